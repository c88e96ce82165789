import type { Ground } from "../ground.ts";
import type { Figure } from "../measure.ts";
import { api } from "./api.ts";
import { page } from "./console.ts";
import { screensOfJobs, screensOfPlans } from "./console-loaded.ts";
import { fanout } from "./fanout.ts";
import { future } from "./future.ts";
import { graph } from "./graph.ts";
import { insert } from "./insert.ts";
import { join } from "./join.ts";
import { ontime } from "./ontime.ts";
import { pickup } from "./pickup.ts";
import { relay } from "./relay.ts";
import { schedules } from "./schedules.ts";
import { send } from "./send.ts";
import { settles } from "./settles.ts";
import { sse } from "./sse.ts";
import { throughput } from "./throughput.ts";
import { work } from "./work.ts";
import type { CaseOptions } from "../case-options.ts";

export interface Case {
  readonly name: string;
  readonly what: string;
  run(ground: Ground, options: CaseOptions): Promise<readonly Figure[]>;
}

export const cases: readonly Case[] = [
  { name: "insert", what: "bulk enqueue, 1,000 a call, beside a bare unnest INSERT", run: insert },
  { name: "relay", what: "waiting -> QUEUED by 500, beside a bare SKIP LOCKED claim", run: relay },
  { name: "send", what: "relay with its messages sent to SQS, beside the SDK alone", run: send },
  { name: "work", what: "worker batches of 10 on 4 connections, beside two bare compare-and-sets", run: work },
  { name: "throughput", what: "enqueue -> finished by 500, beside bare claim and complete", run: throughput },
  {
    name: "pickup",
    what: "enqueue -> handler start when idle, beside a bare loop of commit, send, receive",
    run: pickup,
  },
  { name: "future", what: "relay and work among 2,100,000 rows that are not due, beside an empty table", run: future },
  { name: "graph", what: "a run of 10,000 tasks and 19,800 edges, beside bare INSERTs", run: graph },
  { name: "join", what: "10,000 predecessors of one join end, without a scheduler, beside marking alone", run: join },
  { name: "fanout", what: "100,000 targets written by a fan-out, beside insert; memory", run: fanout },
  { name: "settles", what: "1,000 concurrent settles over shared successors, with cancels: deadlocks", run: settles },
  {
    name: "schedules",
    what: "next fire of 10,000 schedules; pages of a tick among 10,000, beside one among 100",
    run: schedules,
  },
  {
    name: "ontime",
    what: "1,000 fires a minute, every second scheduler task killed: missed, doubled, lateness",
    run: ontime,
  },
  { name: "api", what: "summary, lists, many retries and creates beside 1,100,000 jobs", run: api },
  { name: "sse", what: "events: 100 reconnects, 200 clients, memory; one key from 200; creates over HTTP", run: sse },
  { name: "console", what: "the page in a browser: a graph of 1,000 tasks, a list of 100,000 rows", run: page },
  {
    name: "screens",
    what: "screens of jobs and lanes beside 1,000,000 finished jobs, 10,000 schedules and a run of 10,000 tasks",
    run: screensOfJobs,
  },
  { name: "plans", what: "the same for the screens of schedules and runs", run: screensOfPlans },
];

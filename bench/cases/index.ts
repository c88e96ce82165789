import type { Ground } from "../ground.ts";
import type { Figure } from "../measure.ts";
import { page } from "./console.ts";
import { each } from "./each.ts";
import { fanout } from "./fanout.ts";
import { insert } from "./insert.ts";
import { join } from "./join.ts";
import { ontime } from "./ontime.ts";
import { relay } from "./relay.ts";
import { schedules } from "./schedules.ts";
import { send } from "./send.ts";
import { throughput } from "./throughput.ts";
import { work } from "./work.ts";

export interface Case {
  readonly name: string;
  readonly what: string;
  /** @param options `minutes`: how long a case that lives in real time goes on; `size`: a part of the rows of `each` */
  run(ground: Ground, options: { readonly minutes: number; readonly size: number }): Promise<readonly Figure[]>;
}

export const cases: readonly Case[] = [
  { name: "insert", what: "bulk enqueue, 1,000 a call, beside a bare unnest INSERT", run: insert },
  { name: "relay", what: "waiting -> QUEUED by 500, beside a bare SKIP LOCKED claim", run: relay },
  { name: "send", what: "relay with its messages sent to SQS, beside the SDK alone", run: send },
  { name: "work", what: "worker batches of 10 on 4 connections, beside two bare compare-and-sets", run: work },
  { name: "throughput", what: "enqueue -> finished by 500, beside bare claim and complete", run: throughput },
  { name: "join", what: "10,000 predecessors of one join end, without a scheduler, beside marking alone", run: join },
  { name: "fanout", what: "100,000 targets written by a fan-out, beside insert; memory", run: fanout },
  { name: "each", what: "a task of 50,000 rows between two others, beside a job, a fan-out and its then", run: each },
  { name: "schedules", what: "next fire of 10,000 schedules", run: schedules },
  {
    name: "ontime",
    what: "1,000 fires a minute, every second scheduler task killed: missed, doubled, lateness",
    run: ontime,
  },
  { name: "console", what: "the page in a browser: a graph of 1,000 tasks, a list of 100,000 rows", run: page },
];

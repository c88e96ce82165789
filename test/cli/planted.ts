import type { Command } from "commander";
import { z } from "zod";
import { output } from "../../src/cli/output.ts";
import { program } from "../../src/cli/program.ts";
import { graphPlan } from "../support/graph-plan.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { definitionOf } from "../../src/define/define-job.ts";
import { app, ping } from "../api/harness.ts";
import { serveApi } from "./harness.ts";
import { plantJobs } from "../support/plant-jobs.ts";

const silent = { out: () => {}, err: () => {}, isTerminal: false };
const leavesOf = (command: Command, path: string): readonly string[] =>
  command.commands.length === 0 ? [path] : command.commands.flatMap((each) => leavesOf(each, `${path} ${each.name()}`));
/** Every command that does something, as the program itself lists them: `jobs list`. */
export const leaves = (
  await program({ streams: silent, env: {}, folder: "/" }, output(silent, false))
).commands.flatMap((each) => leavesOf(each, each.name()));

/** What those that ask the API are given. JOB waits, ENDED is FAILED, RUN goes on, OVER is FAILED. */
export const given: Readonly<Record<string, string>> = {
  "jobs list": "--state FAILED",
  "jobs show": "ENDED",
  "jobs enqueue": 'greet {"name":"Ada"}',
  explain: "JOB",
  "jobs run-now": "JOB",
  "jobs cancel": "JOB",
  "jobs retry": "JOB",
  "runs list": "",
  "runs show": "RUN",
  "runs signal": 'RUN approved --payload {"by":"ada"}',
  "runs cancel": "RUN",
  "runs watch": "RUN",
  "runs retry": "RUN",
  "runs rerun": "RUN",
  "schedules list": "",
  "schedules show": "nightly",
  "schedules next": "nightly --count 1",
  "schedules history": "ping-often",
  "schedules explain": "ping-often 08:00",
  "schedules preview": "5m --count 1",
  "schedules upcoming": "--hours 24",
  "schedules simulate": "--days 2 --against default=1 --unmeasured 15m",
  "schedules objectives": "",
  "schedules create": "weekly --kind ping --every 7d",
  "schedules update": "nightly --every 6h --unset spread",
  "schedules pause": "nightly",
  "schedules resume": "nightly",
  "schedules trigger": "nightly",
  "schedules backfill": "nightly --from 2026-11-19T00:00Z --to 2026-11-20T12:00Z --force --dry-run",
  "schedules delete": "nightly",
  "dead-letters list": "",
  "dead-letters show": "GROUP",
  "dead-letters redrive": "--kind ping --yes",
  // What the redrive before it began.
  "dead-letters stop": "1",
  "lanes list": "",
  "lanes pause": "default --yes",
  "lanes resume": "default",
  "lanes limit": "shout 3",
  "lanes limits": "",
  locks: "",
  workers: "",
  archive: "",
  costs: "--by kind",
  events: "",
  kinds: "",
};
const steps = defineGraph({
  id: "steps",
  version: 1,
  tasks(task) {
    const first = task("first", { run: () => null });
    task.waitFor("approved", { after: { first }, payload: z.object({ by: z.string() }), timeout: "1d" });
  },
});
const graphs = defineApp({ name: "graphs", jobs: [steps] });

/** A job that waits, two that FAILED, two runs and a schedule: whatever the commands above are given. */
export async function planted(options: Parameters<typeof serveApi>[0] = {}) {
  const served = await serveApi(options, [app, graphs]);
  const { pool, store } = served;
  const [ended] = await plantJobs(pool, "FAILED", 2, { error_message: String.raw`e'no\033[31m'` });
  const { groups } = (await served.call("GET", "/dead-letters")).body as unknown as {
    groups: { fingerprint: string }[];
  };
  const [job] = (await served.client.enqueue(definitionOf(ping), [{ payload: undefined, delayMs: 3_600_000 }])).map(
    ({ id }) => id,
  );
  const over = await pool.query<{ id: string }>(
    `insert into belfry.run (kind, key, version, state, sealed, created_at, finished_at, trace)
     values ('gone', 'k', 1, 'FAILED', true, belfry.now(), belfry.now(), 't') returning id`,
  );
  const { runId } = await store.startRun(await graphPlan([graphs], "steps"));
  const objective = { onTime: "5m", share: 0.99 };
  const nightly = { id: "nightly", kind: "ping", cron: "0 3 * * *", timezone: "UTC", objective };
  if (options.caller === undefined) await served.call("POST", "/schedules", nightly);
  const names: Record<string, string> = {
    JOB: job ?? "",
    ENDED: ended ?? "",
    GROUP: groups[0]?.fingerprint ?? "",
    RUN: runId,
    OVER: over.rows[0]?.id ?? "",
  };
  /** A command line with those names for ids. */
  const words = (line: string): string[] =>
    line
      .trim()
      .split(" ")
      .map((word) => names[word] ?? word);
  const line = (leaf: string): string[] => words(`${leaf} ${given[leaf] ?? ""}`);
  return { ...served, words, line, run: (leaf: string, ...more: string[]) => served.belfry(...line(leaf), ...more) };
}

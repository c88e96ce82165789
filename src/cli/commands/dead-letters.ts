import type { Command } from "commander";
import type { JobReply } from "../../api/shape/job.ts";
import type { FailureGroupListReply } from "../../insight/failure-groups.ts";
import { api } from "../api.ts";
import { type BulkOptions, redriveMatching } from "../bulk.ts";
import { exitCodes, Finished } from "../exit.ts";
import type { Output, World } from "../output.ts";
import { membersOf, type PayloadOptions, queryIn, withPayload, withQuery } from "../query-options.ts";
import { type Columns, commandOf, groupOf, readCommand, tableOf } from "../read-command.ts";

const list = readCommand("listDeadLetters", (out) => {
  const columns: Columns<FailureGroupListReply["groups"][number]> = {
    GROUP: ({ fingerprint }) => fingerprint,
    KIND: ({ kind }) => kind,
    JOBS: ({ jobs }) => String(jobs),
    ERROR: ({ errorCode }) => errorCode,
    MESSAGE: ({ errorMessage }) => errorMessage,
    LAST: ({ lastAt }) => out.time(lastAt),
    SAMPLES: ({ samples }) => samples.map(({ job }) => job).join(" "),
  };
  return {
    name: "list",
    about: "in groups that failed alike, the largest first",
    example: "dead-letters list --kind send-mail",
    text: ({ groups }) => (groups.length === 0 ? "no dead letters" : tableOf(out, columns, groups)),
    check: ["exit with 7 when there are any", ({ groups }) => groups.length > 0],
  };
});

function show(world: World, out: Output): Command {
  const columns: Columns<JobReply> = {
    ID: ({ id }) => id,
    KIND: ({ kind }) => kind,
    FAILED: ({ finishedAt }) => out.time(finishedAt),
    MESSAGE: ({ error }) => error?.message ?? "",
  };
  return withQuery(
    commandOf("show", "the jobs of one group, the newest first", "dead-letters show 5e1f0c2a77d0"),
    "listJobs",
    { only: ["limit"] },
  )
    .argument("<group>", "as list shows it")
    .action(async (fingerprint: string, { limit }: { limit?: string }, command: Command) => {
      const page = await api(world, command).call("listJobs", { state: "FAILED", fingerprint, limit });
      const isEmpty = page.jobs.length === 0;
      const none = `no FAILED job is in group "${fingerprint}"`;
      out.result(page, () => (isEmpty ? none : tableOf(out, columns, page.jobs)));
      if (isEmpty) throw new Finished(exitCodes.notFound);
    });
}

/** Of any change of many jobs, whichever command began it. */
function stop(world: World, out: Output): Command {
  return commandOf("stop", "stop a redrive that runs; what it has changed stays changed", "dead-letters stop 7")
    .argument("<id>", "as redrive says it")
    .action(async (id: string, _: object, command: Command) => {
      const stopped = await api(world, command).call("stopBulk", { id });
      out.result(stopped, () => `redrive ${id} is ${stopped.state}: ${stopped.changed} jobs were changed`);
    });
}

interface RedriveOptions extends BulkOptions, PayloadOptions {
  readonly group?: readonly string[];
  readonly pace?: string;
  readonly steps?: string;
  readonly [filter: string]: unknown;
}

function redrive(world: World, out: Output): Command {
  return withPayload(
    withQuery(
      commandOf(
        "redrive",
        "run FAILED jobs again: same id, key and history",
        "dead-letters redrive --group 5e1f0c2a77d0 77d01b9e40c3 --pace 5/s --steps 1,10,all --yes",
      ),
      "countJobs",
      { without: ["fingerprint"] },
    ),
  )
    .option("--group <group...>", "as list shows them; all of them at once")
    .option("--pace <pace>", "how many a second, like 50/s, or the time between two, like 10s")
    .option(
      "--steps <sizes>",
      "jobs of each group that go first; it stops when they fail again (default: 1,10,all for more than 10)",
    )
    .option("--dry-run", "only count")
    .option("--yes", "do it")
    .option("--no-wait", "do not follow it to the end")
    .action(async (options: RedriveOptions, command: Command) => {
      const { group: fingerprint, pace, steps } = options;
      const payload = options.payload === undefined ? undefined : membersOf(options, "");
      const body = { filter: { ...queryIn("countJobs", options), fingerprint, payload }, pace, steps };
      await redriveMatching(api(world, command), out, body, options);
    });
}

export const deadLettersCommand = groupOf("dead-letters", [list, show, redrive, stop]);

import { Command } from "commander";
import type { JobListReply } from "../../api/shape/job.ts";
import type { FailureGroupListReply } from "../../api/shape/overview.ts";
import { api } from "../api.ts";
import { type BulkOptions, changeMatching } from "../bulk.ts";
import { exitCodes, Finished } from "../exit.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";
import { part } from "../client.ts";
import type { BulkReply } from "../../api/shape/bulk.ts";

export function deadLettersCommand(world: World, out: Output): Command {
  const command = new Command("dead-letters");
  command.addCommand(list(world, out));
  command.addCommand(show(world, out));
  command.addCommand(redrive(world, out));
  command.addCommand(stop(world, out));
  return command;
}

function list(world: World, out: Output): Command {
  return new Command("list")
    .description("in groups that failed alike, the largest first")
    .option("--kind <kind>", "the id of the definition")
    .option("--check", "exit with 7 when there are any")
    .addHelpText("after", "\nExample:\n  $ npx belfry dead-letters list --kind send-mail")
    .action(async ({ kind, check }: { kind?: string; check?: boolean }, command: Command) => {
      const found = await api(world, command).get<FailureGroupListReply>("/dead-letters", { kind });
      const rows = found.groups.map((group) => [
        group.fingerprint,
        group.kind,
        String(group.jobs),
        group.errorCode ?? "",
        group.errorMessage ?? "",
        out.time(group.lastAt),
        group.samples.map(({ job }) => job).join(" "),
      ]);
      const head = ["GROUP", "KIND", "JOBS", "ERROR", "MESSAGE", "LAST", "SAMPLES"];
      out.result(found, () => (rows.length === 0 ? "no dead letters" : out.table(head, rows)));
      if (check && rows.length > 0) throw new Finished(exitCodes.failedJob);
    });
}

function show(world: World, out: Output): Command {
  return new Command("show")
    .description("the jobs of one group, the newest first")
    .argument("<group>", "as list shows it")
    .option("--limit <count>", "1 to 500", "50")
    .addHelpText("after", "\nExample:\n  $ npx belfry dead-letters show 5e1f0c2a")
    .action(async (fingerprint: string, { limit }: { limit: string }, command: Command) => {
      const query = { state: "FAILED", fingerprint, limit };
      const page = await api(world, command).get<JobListReply>("/jobs", query);
      const rows = page.jobs.map((job) => [job.id, job.kind, out.time(job.finishedAt), job.error?.message ?? ""]);
      const text = (): string => out.table(["ID", "KIND", "FAILED", "MESSAGE"], rows);
      out.result(page, () => (rows.length === 0 ? `no FAILED job is in group "${fingerprint}"` : text()));
      if (rows.length === 0) throw new Finished(exitCodes.notFound);
    });
}

interface RedriveOptions {
  readonly group?: readonly string[];
  readonly kind?: string;
  readonly error?: string;
  readonly lane?: string;
  readonly pace?: string;
  readonly canary?: boolean;
}

/** Of any change of many jobs, whichever command began it. */
function stop(world: World, out: Output): Command {
  return new Command("stop")
    .description("stop a redrive that runs; what it has changed stays changed")
    .argument("<id>", "as redrive says it")
    .addHelpText("after", "\nExample:\n  $ npx belfry dead-letters stop 7")
    .action(async (id: string, _: object, command: Command) => {
      const stopped = await api(world, command).post<BulkReply>(`/bulk/${part(id)}/stop`);
      out.result(stopped, () => `redrive ${id} is ${stopped.state}: ${stopped.changed} jobs were changed`);
    });
}

function redrive(world: World, out: Output): Command {
  return new Command("redrive")
    .description("run FAILED jobs again: same id, key and history")
    .option("--group <group...>", "as list shows them; all of them at once")
    .option("--kind <kind>", "the id of the definition")
    .option("--error <code>")
    .option("--lane <lane>")
    .option("--pace <duration>", "between two of them, like 500ms or 10s")
    .option("--canary", "one of each group first; the rest only when these have succeeded")
    .option("--dry-run", "only count")
    .option("--yes", "do it")
    .option("--no-wait", "do not follow it to the end")
    .addHelpText(
      "after",
      "\nExample:\n  $ npx belfry dead-letters redrive --group 5e1f0c2a 77d01b9e --pace 200ms --canary --yes",
    )
    .action(async (options: BulkOptions & RedriveOptions, command: Command) => {
      const { group: fingerprint, kind, error, lane, pace, canary } = options;
      const body = { filter: { fingerprint, kind, error, lane }, pace, canary };
      await changeMatching(api(world, command), out, { path: "/dead-letters/redrive", body, verb: "redrive" }, options);
    });
}

import { Command } from "commander";
import type { JobListReply } from "../../api/shape/job.ts";
import type { FailureGroupListReply } from "../../api/shape/overview.ts";
import { api } from "../api.ts";
import { type BulkOptions, changeMatching } from "../bulk.ts";
import { exitCodes, Finished } from "../exit.ts";
import { type Output, table } from "../output.ts";
import type { World } from "../world.ts";

export function deadLettersCommand(world: World, out: Output): Command {
  const command = new Command("dead-letters");
  command.addCommand(list(world, out));
  command.addCommand(show(world, out));
  command.addCommand(redrive(world, out));
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
        (group.errorMessage ?? "").slice(0, 60),
        group.lastAt,
      ]);
      const head = ["GROUP", "KIND", "JOBS", "ERROR", "MESSAGE", "LAST"];
      out.result(found, () => (rows.length === 0 ? "no dead letters" : table(head, rows, world.streams.isTerminal)));
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
      const rows = page.jobs.map((job) => [job.id, job.kind, job.finishedAt ?? "", job.error?.message ?? ""]);
      const text = (): string => table(["ID", "KIND", "FAILED", "MESSAGE"], rows, world.streams.isTerminal);
      out.result(page, () => (rows.length === 0 ? `no FAILED job is in group "${fingerprint}"` : text()));
      if (rows.length === 0) throw new Finished(exitCodes.notFound);
    });
}

function redrive(world: World, out: Output): Command {
  return new Command("redrive")
    .description("run FAILED jobs again: same id, key and history")
    .option("--group <group>", "as list shows it")
    .option("--kind <kind>", "the id of the definition")
    .option("--error <code>")
    .option("--lane <lane>")
    .option("--pace <duration>", "between two of them, like 500ms or 10s")
    .option("--dry-run", "only count")
    .option("--yes", "do it")
    .option("--no-wait", "do not follow it to the end")
    .addHelpText("after", "\nExample:\n  $ npx belfry dead-letters redrive --error HTTP_503 --pace 200ms --yes")
    .action(async (options: BulkOptions & Record<string, string | undefined>, command: Command) => {
      const { group: fingerprint, kind, error, lane, pace } = options;
      const body = { filter: { fingerprint, kind, error, lane }, pace };
      await changeMatching(api(world, command), out, { path: "/dead-letters/redrive", body, verb: "redrive" }, options);
    });
}

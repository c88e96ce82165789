import { Command } from "commander";
import { api } from "../api.ts";
import type { JobDetailReply, JobReply } from "../../api/shape/job.ts";
import { followed } from "../bulk.ts";
import { each } from "../each.ts";
import { exitCodes, Finished } from "../exit.ts";
import type { Output } from "../output.ts";
import { jobTable, usualColumns } from "../job-columns.ts";
import { jobsListCommand } from "./jobs-list.ts";
import type { World } from "../world.ts";
import { jobText } from "../text.ts";
import { readPayload } from "../payload.ts";
import { showEnd, waitForEnd, type WaitOptions, withWait } from "../wait.ts";

export function jobsCommand(world: World, out: Output): Command {
  const jobs = new Command("jobs");
  jobs.addCommand(jobsListCommand(world, out));
  jobs.addCommand(show(world, out));
  jobs.addCommand(enqueue(world, out));
  jobs.addCommand(steer(world, out, "retry", "run FAILED, CANCELED or SKIPPED jobs again: same id, key and history"));
  jobs.addCommand(steer(world, out, "cancel", "cancel jobs that have not finished"));
  jobs.addCommand(steer(world, out, "runNow", "do not wait for the due time"));
  return jobs;
}

function show(world: World, out: Output): Command {
  return withWait(new Command("show"))
    .description("one job with its attempts and events")
    .argument("<id>")
    .option("--check", "exit with 7 when it is FAILED")
    .addHelpText("after", "\nExample:\n  $ npx belfry jobs show 42 --wait")
    .action(async (id: string, options: WaitOptions & { check?: boolean }, command: Command) => {
      const client = api(world, command);
      const job = options.wait ? await waitForEnd(client, id, options.timeout) : await client.job(id);
      out.result(job, () => jobText(job, out));
      failIfFailed(job, options.wait === true || options.check === true);
    });
}

function enqueue(world: World, out: Output): Command {
  return withWait(new Command("enqueue"))
    .description("write a job; with a key, at most once")
    .argument("<kind>", "the id of the definition")
    .argument("[payload]", "JSON, or - to read it from stdin; left out for a job that takes none")
    .option("--key <key>", "a second job of the same kind and key is not made")
    .option("--delay <duration>", "like 30s, 10m or 2h")
    .option("--due-at <time>", "with its offset: 2026-12-31T09:00:00+09:00")
    .addHelpText(
      "after",
      `\nExample:\n  $ npx belfry jobs enqueue send-mail '{"to":"ada@example.org"}' --key welcome-ada --wait`,
    )
    .action(async (kind: string, payload: string | undefined, options, command: Command) => {
      const { key, delay, dueAt, wait, timeout } = options as WaitOptions & {
        key?: string;
        delay?: string;
        dueAt?: string;
      };
      const client = api(world, command);
      const body = { kind, ...(await readPayload(payload)), key, delay, dueAt };
      const { created, notes, ...written } = await client.enqueue(body);
      if (!created) out.note(`job ${written.id} has this key already; nothing was written`);
      for (const note of notes) out.note(note);
      if (wait) return await showEnd(client, { id: written.id, created }, { timeout, out });
      out.result({ created, ...written }, () => jobText(written, out));
    });
}

function failIfFailed(job: JobDetailReply, matters: boolean): void {
  if (matters && job.state === "FAILED") throw new Finished(exitCodes.failedJob);
}

function steer(world: World, out: Output, verb: "retry" | "cancel" | "runNow", description: string): Command {
  const name = verb === "runNow" ? "run-now" : verb;
  return new Command(name)
    .description(description)
    .argument("<id...>")
    .addHelpText("after", `\nExample:\n  $ npx belfry jobs ${name} 42 43`)
    .action(async (ids: string[], _: object, command: Command) => {
      const client = api(world, command);
      const steered = async (id: string): Promise<JobReply> => {
        const answer = await client[verb](id);
        if (!("matched" in answer)) return answer;
        await followed(client, out, answer);
        return await client.job(id);
      };
      await each(ids, out, steered, (jobs) => ({
        value: { jobs },
        text: () => out.table(...jobTable(jobs, usualColumns, out.time)),
      }));
    });
}

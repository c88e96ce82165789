import { Command } from "commander";
import type { ScheduleReply } from "../../api/shape/schedule.ts";
import { api } from "../api.ts";
import { each } from "../each.ts";
import { CliError, exitCodes } from "../exit.ts";
import type { Output } from "../output.ts";
import { readPayload } from "../payload.ts";
import { showEnd, type WaitOptions, withWait } from "../wait.ts";
import type { World } from "../world.ts";
import { client, listText } from "../schedules.ts";
import { pauseBodyOf, type PauseOptions, withPauseOptions } from "../pausing.ts";

/** The commands that change something. */
export const changing = (world: World, out: Output): readonly Command[] => [
  create(world, out),
  update(world, out),
  withPauseOptions(steer(world, out, "pause", "SKIP its times until it is resumed, also those that were handed off")),
  steer(world, out, "resume", "let a paused schedule run again"),
  remove(world, out),
  trigger(world, out),
];

interface Given extends Record<string, unknown> {
  readonly payload?: string;
  readonly gap?: string;
  readonly dstOverlap?: string;
  readonly disabled?: boolean;
}

const settings = (command: Command): Command =>
  command
    .requiredOption("--kind <kind>", "the id of the job's definition")
    .option("--cron <expression>", "five fields, or cron(...); with --timezone")
    .option("--timezone <zone>", "IANA name, like Asia/Seoul")
    .option("--every <duration>", "elapsed time, like 5m, or rate(...)")
    .option("--at <time>", "once: an instant with Z or its offset")
    .option("--payload <json>", "or - to read it from stdin")
    .option("--misfire <rule>", "skip, latest or all")
    .option("--overlap <rule>", "skip, queue-one or allow")
    .option("--gap <rule>", "auto, skip, shift or first-valid")
    .option("--dst-overlap <rule>", "auto, first, second or both")
    .option("--start-deadline <duration>", "SKIP a time whose job has not started this long after it")
    .option("--start-at <time>")
    .option("--end-at <time>")
    .option("--disabled", "write it switched off");

async function bodyOf({ payload, gap, dstOverlap, disabled, ...given }: Given): Promise<object> {
  const dst = { ...(gap === undefined ? {} : { gap }), ...(dstOverlap === undefined ? {} : { overlap: dstOverlap }) };
  const { json: _json, url: _url, ...options } = given;
  return {
    ...options,
    ...(await readPayload(payload)),
    ...(Object.keys(dst).length === 0 ? {} : { dst }),
    ...(disabled === true ? { enabled: false } : {}),
  };
}

function create(world: World, out: Output): Command {
  return settings(new Command("create"))
    .description("a schedule beside those in code")
    .argument("<id>")
    .addHelpText(
      "after",
      "\nExample:\n  $ npx belfry schedules create nightly --kind export --cron '0 3 * * *' --timezone Asia/Seoul",
    )
    .action(async (id: string, options: Given, command: Command) => {
      const row = await client(world, command).create({ id, ...(await bodyOf(options)) });
      out.result(row, () => listText([row], out));
    });
}

function update(world: World, out: Output): Command {
  return settings(new Command("update"))
    .description("a new version from now on, with all its settings; what was planned after now is withdrawn")
    .argument("<id>")
    .addHelpText("after", "\nExample:\n  $ npx belfry schedules update nightly --kind export --every 6h")
    .action(async (id: string, options: Given, command: Command) => {
      const row = await client(world, command).update(id, await bodyOf(options));
      out.result(row, () => listText([row], out));
    });
}

function steer(world: World, out: Output, verb: "pause" | "resume", description: string): Command {
  return new Command(verb)
    .description(description)
    .argument("<id...>")
    .option("--yes", "needed for more than one")
    .addHelpText(
      "after",
      `\nExample:\n  $ npx belfry schedules ${verb} nightly${verb === "pause" ? " --until 6:00" : ""}`,
    )
    .action(async (ids: string[], { yes, ...options }: PauseOptions & { yes?: boolean }, command: Command) => {
      confirmed(ids, yes, verb);
      const { pause, resume } = client(world, command);
      const work = verb === "resume" ? resume : (id: string) => pause(id, pauseBodyOf(options));
      await each<ScheduleReply>(ids, out, work, (schedules) => ({
        value: { schedules },
        text: () => listText(schedules, out),
      }));
    });
}

function remove(world: World, out: Output): Command {
  return new Command("delete")
    .description("nothing of it starts any more; its history stays")
    .argument("<id...>")
    .option("--yes", "needed for more than one")
    .addHelpText("after", "\nExample:\n  $ npx belfry schedules delete nightly")
    .action(async (ids: string[], { yes }: { yes?: boolean }, command: Command) => {
      confirmed(ids, yes, "delete");
      const steps = client(world, command);
      await each(
        ids,
        out,
        async (id) => ({ id, ...(await steps.remove(id)) }),
        (deleted) => ({
          value: { deleted },
          text: () =>
            deleted.map(({ id, waiting }) => `${id} deleted, ${waiting} waiting jobs left to cancel`).join("\n"),
        }),
      );
    });
}

function trigger(world: World, out: Output): Command {
  return withWait(new Command("trigger"))
    .description("one job now, beside its times; also while paused")
    .argument("<id>")
    .option("--key <key>", "a second trigger with the same key makes no second job")
    .addHelpText("after", "\nExample:\n  $ npx belfry schedules trigger nightly --key rerun-0815 --wait")
    .action(async (id: string, { key, wait, timeout }: WaitOptions & { key?: string }, command: Command) => {
      const made = await client(world, command).trigger(id, key);
      if (!made.created) out.note(`job ${made.id} has this key already; nothing was written`);
      if (wait) return await showEnd(api(world, command), made, { timeout, out });
      out.result(made, () => `job ${made.id}`);
    });
}

function confirmed(ids: readonly string[], yes: boolean | undefined, verb: string): void {
  if (ids.length > 1 && yes !== true) {
    throw new CliError(exitCodes.usage, "not-confirmed", `${verb} ${ids.length} schedules? Say so with --yes`);
  }
}

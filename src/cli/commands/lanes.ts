import type { Command } from "commander";
import { closableText } from "../../machine/closable-texts.ts";
import { formatDuration } from "../../calendar/duration.ts";
import type { LaneListReply } from "../../api/shape/overview.ts";
import { api, deployedStage } from "../api.ts";
import { wrongUsage } from "../exit.ts";
import type { Output, World } from "../output.ts";
import { here, pauseBodyOf, pausedText, type PauseOptions, withPauseOptions } from "../schedule-table.ts";
import { wallTimeIn } from "../times.ts";
import { type Columns, commandOf, groupOf, readCommand, tableOf } from "../read-command.ts";

const list = readCommand("listLanes", (out) => ({
  name: "list",
  about: "every lane",
  example: "lanes",
  result: ({ workers: _workers, ...found }) => found,
  text: ({ lanes }) => tableOf(out, columns, lanes),
}));

const columns: Columns<LaneListReply["lanes"][number]> = {
  LANE: ({ name }) => name,
  STATUS: (lane) => (lane.paused || lane.blackoutUntil === null ? pausedText(lane) : blackoutText(lane.blackoutUntil)),
  WAITING: ({ waiting }) => String(waiting),
  OLDEST: ({ oldestWaitingMs }) => (oldestWaitingMs === null ? "" : `${Math.round(oldestWaitingMs / 1_000)} s`),
  RUNNING: ({ running }) => String(running),
  SCHEDULED: ({ scheduled }) => String(scheduled),
  HELD: ({ held }) => String(held.slot + held.paused + held.predecessors),
  WORKERS: ({ concurrency }) => (concurrency === null ? "" : String(concurrency)),
};

const blackoutText = (until: string): string => `in a blackout until ${wallTimeIn(until, here())} (${here()})`;

function limit(world: World, out: Output): Command {
  return commandOf(
    "limit",
    "how many jobs of a kind or limit run at once, or start in a time, until the next release brings its own number",
    "lanes limit @stripe 50 --per 1s",
  )
    .argument("<kind>", "the id of a definition that has a concurrency or a rate, or @ and the name of a shared limit")
    .argument("<size>", "jobs at once, or starts in the time of --per")
    .option("--per-key", "of one key, instead of all together")
    .option("--per <duration>", "of its rate: how many start in this time")
    .option("--burst <n>", "of its rate: how many of them at one moment", Number)
    .action(async (kind: string, size: string, { perKey = false, per, burst }: LimitOptions, command: Command) => {
      if (per !== undefined) {
        const rate = { limit: Number(size), per, ...(burst === undefined ? {} : { burst }) };
        const changed = await api(world, command).call("setCap", { kind }, { rate });
        return out.result(
          changed,
          () => `${size} jobs of ${kind} start in ${per} from now on; the code says ${rateText(changed.codeRate)}`,
        );
      }
      const cap = perKey ? { perKey: Number(size) } : { size: Number(size) };
      const answer = await api(world, command).call("setCap", { kind }, cap);
      const code = perKey ? answer.codePerKey : answer.code;
      const whose = perKey ? `of one key of ${kind}` : `of ${kind}`;
      out.result(answer, () => `${size} jobs ${whose} run at once from now on; the code says ${code}`);
    });
}

interface LimitOptions {
  readonly perKey?: boolean;
  readonly per?: string;
  readonly burst?: number;
}

const rateText = (rate: { readonly limit: number; readonly perMs: number } | null): string =>
  rate === null ? "none" : `${rate.limit} in ${formatDuration(rate.perMs)}`;

const limits = readCommand("listLanes", (out) => ({
  name: "limits",
  about: "caps, rates and shared limits that are in use, and how many jobs wait for them",
  example: "lanes limits",
  result: ({ caps }) => ({ caps }),
  text: ({ caps }) => tableOf(out, limitColumns, caps),
}));

const limitColumns: Columns<LaneListReply["caps"][number]> = {
  LIMIT: ({ key }) => key,
  TAKEN: ({ taken, size }) => `${taken} of ${size}`,
  BACK: ({ windowMs }) => (windowMs === null ? "at the end" : `after ${formatDuration(windowMs)}`),
  WAITING: ({ waiting }) => String(waiting),
};

function pause(world: World, out: Output): Command {
  return withPauseOptions(
    commandOf(
      "pause",
      "start no job of it any more; what runs goes on",
      "lanes pause mail --until 6:00 --reason 'the provider is away'",
    ),
  )
    .argument("<lane>", "or kind: and the id of a kind, in all lanes")
    .option("--yes", "needed for a deployed stage")
    .action(async (name: string, { yes = false, ...options }: PauseOptions & { yes?: boolean }, command: Command) => {
      const stage = deployedStage(world, command);
      if (stage !== null && !yes)
        throw wrongUsage("not-confirmed", `start no job of ${closableText(name)} of stage ${stage}? Say so with --yes`);
      const answer = await api(world, command).call("pauseLane", { name }, pauseBodyOf(options));
      out.result(answer, () => `${closableText(name)} is ${pausedText(answer, options.timezone)}`);
    });
}

function resume(world: World, out: Output): Command {
  return commandOf("resume", "start its jobs again", "lanes resume mail")
    .argument("<lane>", "or kind: and the id of a kind, in all lanes")
    .action(async (name: string, _: object, command: Command) => {
      const answer = await api(world, command).call("resumeLane", { name });
      out.result(answer, () => `${closableText(name)} is on; ${answer.released} released`);
    });
}

export const lanesCommand = groupOf("lanes", [list, pause, resume, limit, limits], { isFirstUsual: true });

import {
  type AwsCron,
  type Cron,
  type Job,
  aws,
  defineApp,
  defineCalendar,
  defineFanOut,
  defineGraph,
  defineJob,
  defineSchedule,
  defineSweep,
  sql,
} from "belfry";
import { z } from "zod";
import { parseCron } from "../../../src/calendar/cron.ts";
import type { Dst } from "../../../src/calendar/fires.ts";
import { firesByHand, watch } from "../../schedules/clock.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Clock changes of New York (8 March), Casablanca (22 March), Berlin and London (29 March) and Lord Howe (5 April) lie in it. */
export const from = Date.UTC(2026, 2, 7);
export const days = 30;

/** When a schedule must fire between two instants, worked out without the code under test. */
type ByHand = (after: number, until: number) => readonly number[];

/** More attempts than failures that are planted until a rare schedule fires. */
const kept = { retention: "90d", retry: { maxAttempts: 50, base: "1s", cap: "1s" } } as const;
const job = (id: string): Job<void> => defineJob({ id, ...kept, run() {} });

interface Scheduled {
  readonly definition: ReturnType<typeof defineSchedule>;
  readonly fires: ByHand;
}

const auto: Dst = { gap: "auto", overlap: "auto" };

function clocked(id: string, cron: Cron | AwsCron, timezone: string, dst: Partial<Dst> = {}, run = job(id)): Scheduled {
  const rule = parseCron(cron);
  if (!rule.ok) throw new Error(`${cron}: ${rule.problem}`);
  return {
    definition: defineSchedule({ id, cron, timezone, dst, run }),
    fires: (after, until) =>
      firesByHand(rule.cron, { ...auto, ...dst }, watch(timezone, after - hourMs, until + hourMs)).filter(
        (at) => at > after && at <= until,
      ),
  };
}

const multiples =
  (everyMs: number): ByHand =>
  (after, until) => {
    const first = Math.floor(after / everyMs) + 1;
    return Array.from(
      { length: Math.max(0, Math.floor(until / everyMs) - first + 1) },
      (_, n) => (first + n) * everyMs,
    );
  };

/** A time at `startAt` counts, one at `endAt` does not. */
const within =
  ({ startAt, endAt }: { startAt: string; endAt: string }, fires: ByHand): ByHand =>
  (after, until) =>
    fires(Math.max(after, Date.parse(startAt) - 1), Math.min(until, Date.parse(endAt) - 1));

const only =
  (...instants: readonly string[]): ByHand =>
  (after, until) =>
    instants.map((text) => Date.parse(text)).filter((at) => at > after && at <= until);

const graph = defineGraph({
  id: "month-graph",
  version: 1,
  tasks(task) {
    const first = task("first", { run: () => 1 });
    const second = task("second", { after: { first }, run: () => 2 });
    task("last", { after: { first, second }, run: () => 3 });
  },
});

const letter = defineJob({ id: "month-letter", ...kept, payload: z.object({ n: z.number() }), run() {} });
export const targets = 25;

const fanOut = defineFanOut({
  id: "month-fan-out",
  from: () => sql<{ id: number }>`select id from generate_series(1, ${targets}) as id`,
  key: ({ id }, { day }) => `${day}:${id}`,
  each: letter,
  payload: ({ id }) => ({ n: id }),
});

const ahead = defineFanOut({
  id: "month-ahead",
  from: () => sql<{ id: number }>`select id from generate_series(1, ${targets}) as id`,
  key: ({ id }, { day }) => `ahead:${day}:${id}`,
  each: letter,
  payload: ({ id }) => ({ n: id }),
  materializeBefore: "10m",
});

const sweep = defineSweep({
  id: "month-sweep",
  due: () => sql<{ id: number }>`select id from generate_series(1, ${targets}) as id`,
  key: ({ id }) => `swept:${id}`,
  each: letter,
  payload: ({ id }) => ({ n: id }),
  maxLateness: "1h",
});

const window = { startAt: "2026-03-12T00:00:00Z", endAt: "2026-03-20T00:00:00Z" } as const;

/** A day with a clock change: a whole month of minutes would take hours. */
const aroundTheChange = { startAt: "2026-03-28T12:00:00Z", endAt: "2026-03-29T12:00:00Z" } as const;

const closedOn = "2026-03-08";

export const scheduled: readonly Scheduled[] = [
  {
    ...clocked("spread", "0 3 * * *", "America/New_York"),
    definition: defineSchedule({
      id: "spread",
      cron: "0 3 * * *",
      timezone: "America/New_York",
      spread: "3h",
      run: job("spread"),
    }),
  },
  {
    definition: defineSchedule({
      id: "closed",
      cron: "0 12 * * *",
      timezone: "UTC",
      except: defineCalendar({ id: "closed", dates: [closedOn] }),
      run: job("closed"),
    }),
    fires: (after, until) =>
      clocked("closed", "0 12 * * *", "UTC")
        .fires(after, until)
        .filter((at) => at !== Date.parse(`${closedOn}T12:00:00Z`)),
  },
  {
    ...clocked("follows", "0 8 * * *", "Asia/Seoul"),
    definition: defineSchedule({
      id: "follows",
      after: { schedule: "morning", within: "6h" },
      run: job("follows"),
    }),
  },
  {
    definition: defineSchedule({
      id: "minutely",
      cron: "* * * * *",
      timezone: "Europe/Berlin",
      ...aroundTheChange,
      run: job("minutely"),
    }),
    fires: within(aroundTheChange, multiples(minuteMs)),
  },
  clocked("hourly", "0 * * * *", "America/New_York"),
  clocked("quarters", "*/15 * * * *", "Europe/London"),
  clocked("nightly", "30 2 * * *", "America/New_York"),
  clocked("nightly-shift", "30 2 * * *", "Europe/Berlin", { gap: "shift" }),
  clocked("nightly-skip", "15 2 * * *", "Europe/Berlin", { gap: "skip" }),
  clocked("half-hour-both", "45 1 * * *", "Australia/Lord_Howe", { overlap: "both" }),
  clocked("half-hour-second", "50 1 * * *", "Australia/Lord_Howe", { overlap: "second" }),
  clocked("ramadan", "30 2 * * *", "Africa/Casablanca"),
  clocked("morning", "0 8 * * *", "Asia/Seoul"),
  clocked("workdays", "0 9-17 * * MON-FRI", "Asia/Kolkata"),
  clocked("last-day", "0 9 L * *", "UTC"),
  clocked("workday-near-15", "0 9 15W * *", "UTC"),
  clocked("second-friday", "0 9 * * FRI#2", "UTC"),
  clocked("last-friday", "0 9 * * 5L", "UTC"),
  clocked("either-day", "0 0 13 * FRI", "America/Sao_Paulo"),
  clocked("aws-cron", aws("cron(0 10 ? * 2-6 *)"), "UTC"),
  clocked("graphs", "10 3 * * *", "Asia/Seoul", {}, graph),
  clocked("fan-outs", "20 3 * * *", "Asia/Seoul", {}, fanOut),
  clocked("ahead", "40 3 * * *", "Asia/Seoul", {}, ahead),
  clocked("sweeps", "50 3 * * *", "Asia/Seoul", {}, sweep),
  { definition: defineSchedule({ id: "often", every: "37m", run: job("often") }), fires: multiples(37 * minuteMs) },
  {
    definition: defineSchedule({ id: "aws-rate", every: aws("rate(5 hours)"), run: job("aws-rate") }),
    fires: multiples(5 * hourMs),
  },
  {
    definition: defineSchedule({ id: "window", every: "6h", ...window, run: job("window") }),
    fires: within(window, multiples(6 * hourMs)),
  },
  {
    definition: defineSchedule({ id: "once", at: "2026-03-17T10:20:30Z", run: job("once") }),
    fires: only("2026-03-17T10:20:30Z"),
  },
  {
    definition: defineSchedule({ id: "aws-once", at: aws("at(2026-03-18T10:20:30)"), run: job("aws-once") }),
    fires: only("2026-03-18T10:20:30Z"),
  },
];

export const app = defineApp({ name: "month", schedules: scheduled.map(({ definition }) => definition) });

import { type Timetable, timetable } from "../../calendar/timetable.ts";
import type { ScheduleWakeTopology } from "../../stage/topology.ts";
import { exitCause } from "../lambda/sandbox.ts";
import { onConnection } from "../../postgres/access.ts";
import { type ClockOptions, intervalMsMin, SchedulerProcesses } from "./wake-clock.ts";

export interface RuleClockOptions extends ClockOptions {
  readonly wakes: readonly ScheduleWakeTopology[];
  /** The process of a schedule is gone; the cause is a sentence for the attempts that ended with it. */
  readonly onEnded: (schedule: string, pid: number, cause: string) => void;
}

/** Plays the EventBridge rules of schedules that have their own: each wake starts a `run-schedule` process. */
export interface RuleClock {
  /** The rules after an edit. */
  apply(wakes: readonly ScheduleWakeTopology[]): void;
  stop(): Promise<void>;
}

const lookMsMin = 50;
const lookMsMax = 30_000;

interface Rule {
  readonly table: Timetable;
  /** Its wakes up to here were started; null before the first check. */
  since: number | null;
  startedMs: number;
}

export function startRuleClock(options: RuleClockOptions): RuleClock {
  const { env, timeScale } = options;
  const rules = new Map<string, Rule>();
  const processes = new SchedulerProcesses(options);
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const wake = (schedule: string): void => {
    const child = processes.start(`schedule ${schedule}`, ["run-schedule", schedule]);
    child.once("exit", (code, signal) => options.onEnded(schedule, child.pid ?? -1, exitCause(code, signal)));
  };
  /** Starts the wakes that came since the last check. @returns milliseconds of the system until the next wake. */
  const look = (now: number): number => {
    let next = Number.POSITIVE_INFINITY;
    for (const [schedule, rule] of rules) {
      rule.since ??= now;
      const due = rule.table.next(rule.since);
      if (due !== null && due.instant <= now) {
        rule.since = now;
        if (timeScale === 1 || performance.now() - rule.startedMs >= intervalMsMin) {
          rule.startedMs = performance.now();
          wake(schedule);
        }
      }
      next = Math.min(next, (rule.table.next(rule.since)?.instant ?? Number.POSITIVE_INFINITY) - now);
    }
    return next;
  };
  const turn = async (): Promise<void> => {
    const untilNext = rules.size === 0 ? lookMsMax : look(await systemNow(env["DATABASE_URL"] ?? ""));
    again(Math.min(Math.max(untilNext / timeScale, lookMsMin), lookMsMax));
  };
  const again = (ms: number): void => {
    // A database outage loses wakes, as a failing rule does: the tick makes up for them.
    if (!stopped) timer = setTimeout(() => void turn().catch(() => again(1_000)), ms);
  };
  const clock: RuleClock = {
    apply(wakes) {
      rules.clear();
      for (const { schedule, expression } of wakes) {
        rules.set(schedule, { table: tableOf(expression), since: null, startedMs: Number.NEGATIVE_INFINITY });
      }
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await processes.stop();
    },
  };
  clock.apply(options.wakes);
  again(0);
  return clock;
}

const tableOf = (cron: string): Timetable =>
  timetable({
    expression: { form: "cron", cron },
    timezone: "UTC",
    dst: { gap: "auto", overlap: "auto" },
    startAt: null,
    endAt: null,
  });

/** The system's time is the database's, compressed or not. */
const systemNow = (databaseUrl: string): Promise<number> =>
  onConnection({ url: databaseUrl }, async (client) => {
    const { rows } = await client.query<{ now: number }>("select belfry.ms(belfry.now()) as now");
    return rows[0]?.now ?? Number.NaN;
  });

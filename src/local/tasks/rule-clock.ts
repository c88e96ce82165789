import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { type Timetable, timetable } from "../../core/calendar/timetable.ts";
import type { ScheduleWakeTopology } from "../../topology.ts";
import { exitCause } from "../lambda/end-cause.ts";
import type { Children } from "../process/children.ts";

export interface RuleClockOptions {
  readonly children: Children;
  readonly env: Readonly<Record<string, string>>;
  readonly wakes: readonly ScheduleWakeTopology[];
  readonly timeScale: number;
  readonly onLine?: (line: string, stream: "stdout" | "stderr") => void;
  /** The process of a schedule is gone; the cause is a sentence for the attempts that ended with it. */
  readonly onEnded: (schedule: string, pid: number, cause: string) => void;
}

/** Plays the EventBridge rules of schedules that have their own: each wake starts a `run-schedule` process. */
export interface RuleClock {
  /** The rules after an edit. */
  apply(wakes: readonly ScheduleWakeTopology[]): void;
  stop(): Promise<void>;
}

const task = fileURLToPath(new URL("../../../scheduler-task/main.ts", import.meta.url));
/** A process costs half a second of CPU to start, so compressed time starts one schedule's no faster than this. */
const intervalMsMin = 10_000;
const lookMsMin = 50;
const lookMsMax = 30_000;
const stopMs = 10_000;

interface Rule {
  readonly table: Timetable;
  /** Its wakes up to here were started; null before the first check. */
  since: number | null;
  startedMs: number;
}

export function startRuleClock({ children, env, timeScale, onLine, onEnded, ...options }: RuleClockOptions): RuleClock {
  const rules = new Map<string, Rule>();
  const tasks = new Set<ChildProcess>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const wake = (schedule: string): void => {
    const child = children.start({
      name: `schedule ${schedule}`,
      args: [task, "run-schedule", schedule],
      env,
      ...(onLine === undefined ? {} : { onLine }),
    });
    tasks.add(child);
    child.once("exit", (code, signal) => {
      tasks.delete(child);
      onEnded(schedule, child.pid ?? -1, exitCause(code, signal));
    });
    child.once("error", () => tasks.delete(child));
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
      await Promise.all([...tasks].map((child) => children.stop(child, stopMs)));
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
async function systemNow(databaseUrl: string): Promise<number> {
  const client = new Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ now: number }>("select belfry.ms(belfry.now()) as now");
    return rows[0]?.now ?? Number.NaN;
  } finally {
    await client.end();
  }
}

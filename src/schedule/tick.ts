import type { Registry } from "../define/definition.ts";
import { plannedOf } from "./fire.ts";
import type { Instant } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { passLimits } from "./pass-limits.ts";
import { planChain } from "./chain.ts";
import { planNext, type SchedulePlan } from "./plan.ts";
import type { Fence } from "../machine/fence.ts";
import type { Ports } from "../machine/ports.ts";
import { type PlannedSchedule, scheduleLimits, type ScheduleRow } from "../machine/schedule.ts";
import { afterCommit } from "../run/after-commit.ts";
import { tzProblem } from "../calendar/timetable.ts";

export interface TickOptions {
  readonly fence?: Fence | undefined;
  readonly signal?: AbortSignal;
  /** Version of the tz data that computes the times. Default: this runtime's. */
  readonly tzVersion?: string;
}

/** Named as metrics are: the pass reports each as `scheduler.<name>`. */
export type TickCounts = {
  /** Schedules that were planned. */
  readonly schedules: number;
  /** Rows written, of every outcome. */
  readonly occurrences: number;
  /** Of the decided times, those that were missed. */
  readonly missed: number;
  /** Times SKIPPED because no payload could be made for them. */
  readonly "payload.failed": number;
  /** Schedules that were not decided: unknown job, newer tz data, unreadable expression. */
  readonly undecided: number;
};

type TickPorts = Pick<Ports, "seals" | "store" | "queue" | "clock" | "random" | "log" | "metrics" | "crashPoint">;

/**
 * Schedules -> occurrences and jobs, up to the dispatch window, in bounded rounds. Every nominal time gets exactly one row.
 * A schedule that cannot be decided here gets a warning and does not stop the others.
 */
export async function tick(ports: TickPorts, registry: Registry, options: TickOptions = {}): Promise<TickCounts> {
  const turn = new TickState(ports, registry, options);
  for (let round = 0; round < passLimits.tickRoundsMax && !turn.isOver(); round++) {
    const limit = passLimits.tickSchedulesMax + turn.left.size;
    const due = await ports.store.dueSchedules({ horizonMs: ports.store.dispatchWindowMs, limit });
    const plans = await turn.planAll(due.schedules, due.now);
    await turn.write(plans);
    if (due.schedules.length < limit && plans.every((plan) => plan.isComplete)) break;
  }
  const chains = await turn.planChains();
  await turn.write(chains);
  return turn.counts();
}

/** Its own task decides its times; there is nothing to write unless a wake is lost, or the row is new and names no time yet. */
const isLeftToItsRule = (row: ScheduleRow, { decisions, nextAt }: SchedulePlan): boolean =>
  row.spec.launch === "rule" && decisions.length === 0 && nextAt === row.nextAt && row.carry?.edited !== true;

/** A plan with its jobs, ready to be written. */
interface Ready {
  readonly planned: PlannedSchedule;
  readonly isComplete: boolean;
  readonly missed: number;
}

class TickState {
  /** Ids that this tick does not decide, also those that another session holds. They stay due, so later rounds read that many more. */
  readonly left = new Set<string>();
  readonly #ports: TickPorts;
  readonly #registry: Registry;
  readonly #options: TickOptions;
  #schedules = new Set<string>();
  readonly #counts = { occurrences: 0, missed: 0, "payload.failed": 0, undecided: 0 };

  constructor(ports: TickPorts, registry: Registry, options: TickOptions) {
    this.#ports = ports;
    this.#registry = registry;
    this.#options = options;
  }

  isOver(): boolean {
    return this.#options.signal?.aborted === true || this.#counts.occurrences >= passLimits.tickRowsMax;
  }

  counts(): TickCounts {
    return { schedules: this.#schedules.size, ...this.#counts };
  }

  async planAll(rows: readonly ScheduleRow[], now: Instant): Promise<readonly Ready[]> {
    const plans: Ready[] = [];
    for (const row of rows) {
      if (this.left.has(row.id)) continue;
      const plan = await this.#planOne(row, now);
      if (plan === null) this.left.add(row.id);
      else plans.push(plan);
    }
    return plans;
  }

  /** The chains of this process's code, of which something can be decided. */
  async planChains(): Promise<readonly Ready[]> {
    const ids = [...this.#registry.schedules.values()].flatMap(({ id, after }) => (after === undefined ? [] : [id]));
    if (ids.length === 0 || this.isOver()) return [];
    const { now, chains } = await this.#ports.store.chains({ ids, timesMax: passLimits.chainTimesMax });
    const plans: Ready[] = [];
    for (const page of chains) {
      const ready = await this.#decide(page.row, async () => {
        const plan = planChain(page, now);
        return plan.decisions.length === 0 ? null : { decider: page.row, plan };
      });
      if (ready !== null) plans.push(ready);
    }
    return plans;
  }

  /** On-time plans first: a schedule that catches up does not delay the others. */
  async write(plans: readonly Ready[]): Promise<void> {
    for (const group of inStatements(plans.toSorted((a, b) => a.missed - b.missed))) {
      if (this.isOver()) return;
      await this.#writeGroup(group);
    }
  }

  #planOne(row: ScheduleRow, now: Instant): Promise<Ready | null> {
    const { dispatchWindowMs } = this.#ports.store;
    const options = { now, dispatchWindowMs, timesMax: passLimits.tickTimesPerScheduleMax };
    return this.#decide(row, async () => {
      const { row: decider, plan } = await planNext(this.#ports.store, row, options);
      return isLeftToItsRule(row, plan) ? null : { decider, plan };
    });
  }

  /** `plan` answers null where nothing is to be written. */
  async #decide(
    row: ScheduleRow,
    plan: () => Promise<{ readonly decider: ScheduleRow; readonly plan: SchedulePlan } | null>,
  ): Promise<Ready | null> {
    const problem = this.#problemOf(row);
    if (problem !== null) return this.#leave(row, problem);
    try {
      const made = await plan();
      if (made === null) return null;
      const { planned, payloadFailed } = await plannedOf(this.#ports, { row, ...made }, this.#registry);
      this.#counts["payload.failed"] += payloadFailed;
      return { planned, isComplete: made.plan.isComplete, missed: made.plan.missed };
    } catch (error) {
      return this.#leave(row, error instanceof Error ? error.message : String(error));
    }
  }

  #problemOf(row: ScheduleRow): string | null {
    const older = tzProblem(row.spec, this.#options.tzVersion);
    if (older !== null) return older;
    if (row.removed !== true && !this.#registry.jobs.has(row.spec.job.kind))
      return `its job "${row.spec.job.kind}" is not defined in this process: deploy the app that has it, or npx belfry schedules delete ${row.id}`;
    return null;
  }

  #leave(row: ScheduleRow, problem: string): null {
    this.#counts.undecided += 1;
    if (isNews(this.#registry, `${row.id}@${row.version}: ${problem}`)) {
      this.#ports.log.error("schedule left undecided", { schedule: row.id, version: row.version, problem });
    }
    return null;
  }

  async #writeGroup(group: readonly Ready[]): Promise<void> {
    const { fence } = this.#options;
    const plans = group.map((ready) => ready.planned);
    await this.#ports.crashPoint?.("tick.beforeCommit");
    const written = await this.#ports.store.plan(plans, { fence });
    await this.#ports.crashPoint?.("tick.afterCommit");
    for (const { planned, missed } of group) {
      if (written.passed.includes(planned.scheduleId)) {
        this.left.add(planned.scheduleId);
        continue;
      }
      this.#schedules.add(planned.scheduleId);
      this.#counts.missed += missed;
    }
    this.#counts.occurrences += written.occurrences;
    await afterCommit(this.#ports, written.aftermath);
  }
}

/** Plans of one statement: at most `insertRowsMax` occurrences together, or a single schedule with more. */
function inStatements(plans: readonly Ready[]): readonly (readonly Ready[])[] {
  const groups: Ready[][] = [];
  let group: Ready[] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const plan of plans) {
    rows += plan.planned.occurrences.length;
    if (rows > contractLimits.insertRowsMax) {
      group = [];
      groups.push(group);
      rows = plan.planned.occurrences.length;
    }
    group.push(plan);
  }
  return groups;
}

const reportedOnce = new WeakMap<Registry, Set<string>>();

/** A tick runs every second: each problem is logged once in a process; the metric counts it every time. */
function isNews(registry: Registry, line: string): boolean {
  const lines = reportedOnce.get(registry) ?? new Set();
  reportedOnce.set(registry, lines);
  if (lines.has(line) || lines.size >= scheduleLimits.reportedProblemsMax) return false;
  lines.add(line);
  return true;
}

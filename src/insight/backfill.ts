/** Runs past times that never ran, each by the version that was in force then. */
import { backfillGate } from "../admission/backfill.ts";
import { catchUpGate } from "../admission/catch-up.ts";
import { reasons } from "../machine/reasons.ts";
import { iso } from "../machine/units.ts";
import type { Registry } from "../define/definition.ts";
import { type VersionInterval, versionIntervals } from "../calendar/version-intervals.ts";
import type { NominalTime } from "../calendar/fires.ts";
import { plannedRow } from "../schedule/fire.ts";
import type { Instant } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Ports } from "../machine/ports.ts";
import { afterCommit } from "../run/after-commit.ts";
import { noAftermath } from "../machine/outbox.ts";
import type { OccurrenceView, ScheduleRow } from "../machine/schedule.ts";
import { definitionOfKind, ScheduleRefused, unknownSchedule } from "../schedule/schedule-refused.ts";
import type { BackfillTime, ScheduleFacts } from "../machine/schedule-store.ts";
import { timetable } from "../calendar/timetable.ts";

export interface BackfillOptions {
  /** Both included. Undecided and future times are left to the tick. */
  readonly from: Instant;
  readonly to: Instant;
  /** Reports what would be done and writes nothing. */
  readonly dryRun: boolean;
  /** Also times before the schedule began, by its first version. */
  readonly force: boolean;
  /** Milliseconds between two jobs; null is the schedule's own pace. */
  readonly paceMs: number | null;
  /** After each page that was written. @returns false to stop there. */
  readonly onPage?: (done: { readonly added: number; readonly again: number }) => Promise<boolean>;
}

export interface BackfillEntry {
  readonly localTime: string;
  readonly fold: number;
  readonly nominalAt: Instant;
  readonly version: number;
  /** `missing`, or what its row says: `SKIPPED misfire`, `COALESCED`, `FIRED`. */
  readonly was: string;
  /** False for what has run, runs or waits. */
  readonly runs: boolean;
}

/** A time for which no payload could be made. */
export interface FailedTime {
  readonly localTime: string;
  /** Of the version in force then: the message may quote its payload. */
  readonly kind: string;
  readonly message: string;
}

export interface BackfillReport {
  readonly dryRun: boolean;
  readonly times: readonly BackfillEntry[];
  /** Rows written for times without one. */
  readonly added: number;
  /** Rows that were SKIPPED or COALESCED and are PLANNED again. */
  readonly again: number;
  readonly failed: readonly FailedTime[];
  readonly paceMs: number;
}

type BackfillPorts = Pick<Ports, "seals" | "store" | "queue" | "clock" | "random" | "log" | "metrics" | "crashPoint">;

/**
 * Plans the times between two instants that have not run. Repeating it is harmless: times that have run, run or wait stay.
 * @throws ScheduleRefused with what to do.
 */
export async function backfill(
  ports: BackfillPorts,
  registry: Registry,
  id: string,
  options: BackfillOptions,
): Promise<BackfillReport> {
  const facts = await ports.store.scheduleFacts(id);
  if (facts === null) throw unknownSchedule(id);
  const row = checkedRow(id, facts, options);
  const to = Math.min(options.to, facts.now, row.decidedUntil);
  const rows = await ports.store.occurrencesBetween(id, options.from, to, 2 * contractLimits.backfillTimesMax);
  const wanted = [...timesOf(facts, options, to), ...timesOfChain(facts, rows)];
  const byInstant = Map.groupBy(rows, (each) => each.nominalAt);
  const judged = wanted.map(({ interval, time }) => {
    return { interval, time, entry: judge(interval, time, byInstant.get(time.instant) ?? []) };
  });
  const paceMs = options.paceMs ?? row.spec.misfire.paceMs;
  const times = judged.map(({ entry }) => entry);
  const todo = judged.filter(({ entry }) => entry.runs);
  const { made, failed } = await withJobs(ports, registry, todo, row);
  if (options.dryRun) return { dryRun: true, times, added: 0, again: 0, failed, paceMs };
  const done = await write(ports, registry, made, { ...options, id, paceMs });
  return { dryRun: false, times, ...done, failed, paceMs };
}

function checkedRow(id: string, facts: ScheduleFacts, { from, to, force }: BackfillOptions): ScheduleRow {
  const refuse = (message: string): ScheduleRefused => new ScheduleRefused("backfill-refused", message);
  const { row, ledgerFrom, now } = facts;
  if (row === null) throw refuse(`schedule "${id}" was deleted: make it again, then backfill`);
  if (!(from <= to)) throw refuse(`from ${iso(from)} must not be after to ${iso(to)}: exchange them`);
  if (from > now) throw refuse(`from ${iso(from)} lies in the future, which its schedule plans: begin earlier`);
  if (to - from > contractLimits.backfillDaysMax * 86_400_000) {
    throw refuse(`from ${iso(from)} to ${iso(to)} is more than ${contractLimits.backfillDaysMax} days: narrow it`);
  }
  if (row.pause !== null) throw refuse(`schedule "${id}" is paused, so its jobs would be SKIPPED: resume it first`);
  if (!row.spec.enabled) throw refuse(`schedule "${id}" is off in this stage: switch it on first`);
  if (ledgerFrom !== null && from < ledgerFrom && !force) {
    throw refuse(
      `the ledger of "${id}" begins at ${iso(ledgerFrom)}; what ran before is not recorded: start there, or force it`,
    );
  }
  return row;
}

interface Wanted {
  readonly interval: VersionInterval;
  readonly time: NominalTime;
}

/** Every firing time of the window, by the version in force then, in order. */
function timesOf(facts: ScheduleFacts, { from, force }: BackfillOptions, to: Instant): readonly Wanted[] {
  const found: Wanted[] = [];
  for (const [index, interval] of versionIntervals(facts.versions).entries()) {
    const after = force && index === 0 ? from - 1 : Math.max(from - 1, interval.from);
    const end = Math.min(to, interval.until);
    if (end <= after) continue;
    for (const time of timetable(interval.spec).times(after, end)) {
      if (time.kind !== "fires") continue;
      found.push({ interval, time });
      if (found.length > contractLimits.backfillTimesMax) {
        throw new ScheduleRefused(
          "backfill-refused",
          `from ${iso(from)} to ${iso(to)} are more than ${contractLimits.backfillTimesMax} times: narrow it and repeat`,
        );
      }
    }
  }
  return found;
}

/** A chain's times are those of its rows: which there are was another schedule's to say. */
function timesOfChain({ versions }: ScheduleFacts, rows: readonly OccurrenceView[]): readonly Wanted[] {
  const chains = versionIntervals(versions).filter(({ spec }) => spec.expression.form === "after");
  return rows.filter(isOwnTime).flatMap(({ localTime, fold, timezone, nominalAt: instant, version }) => {
    const interval = chains.find((each) => each.version === version);
    const time = { localTime, fold: fold === 1 ? 1 : 0, timezone, instant, kind: "fires", mergedInto: null } as const;
    return interval === undefined ? [] : [{ interval, time }];
  });
}

const isOwnTime = ({ reason }: OccurrenceView): boolean => reason !== reasons.dstGap && reason !== reasons.excluded;

/** `rows` are those of the same instant. */
function judge({ version, spec }: VersionInterval, time: NominalTime, rows: readonly OccurrenceView[]): BackfillEntry {
  const { localTime, fold, instant: nominalAt } = time;
  const entry = { localTime, fold, nominalAt, version };
  const same = rows.filter(isOwnTime);
  const zone = time.timezone ?? spec.timezone;
  const own = same.find((row) => row.localTime === localTime && row.fold === fold && row.timezone === zone);
  const other = same.find((row) => row !== own && row.outcome !== "COALESCED");
  if (other !== undefined) return { ...entry, was: `${other.outcome} as ${other.localTime}`, runs: false };
  if (own === undefined) return { ...entry, was: "missing", runs: true };
  const was = own.outcome === "SKIPPED" ? `SKIPPED ${own.reason ?? ""}` : own.outcome;
  return { ...entry, was, runs: own.outcome === "SKIPPED" || own.outcome === "COALESCED" };
}

async function withJobs(
  ports: BackfillPorts,
  registry: Registry,
  todo: readonly Wanted[],
  row: ScheduleRow,
): Promise<{ made: readonly BackfillTime[]; failed: readonly FailedTime[] }> {
  const options = { registry, trace: ports.random.id(), seals: ports.seals };
  const made: BackfillTime[] = [];
  const failed: FailedTime[] = [];
  for (const { interval, time } of todo) {
    const then: ScheduleRow = { ...row, version: interval.version, spec: interval.spec };
    const definition = definitionOfKind(registry, interval.spec.job.kind);
    const decision = { time, outcome: "PLANNED", reason: null, isCatchUp: true, missedCount: 0, dueAt: null } as const;
    const { occurrence, failure } = await plannedRow(then, decision, definition, options);
    if (occurrence.job === null) {
      const { localTime } = time;
      failed.push({ localTime, kind: definition.id, message: failure?.message ?? "no payload" });
      continue;
    }
    const own = catchUpGate.groupOf(row).key;
    const slotKeys = occurrence.job.slotKeys.map((key) => (key === own ? backfillGate.groupOf(row).key : key));
    made.push({ occurrence: { ...occurrence, job: { ...occurrence.job, slotKeys } }, version: interval.version });
  }
  return { made, failed };
}

async function write(
  ports: BackfillPorts,
  registry: Registry,
  made: readonly BackfillTime[],
  { id, paceMs, onPage }: BackfillOptions & { readonly id: string; readonly paceMs: number },
): Promise<{ added: number; again: number }> {
  const jobs = made.flatMap(({ occurrence }) => occurrence.job ?? []);
  const kinds = new Set(jobs.map(({ kind }) => kind));
  const slots = backfillGate.groupOf({ id });
  const ofKinds = [...kinds].flatMap((kind) => definitionOfKind(registry, kind).slotGroups);
  await ports.store.installSlots([...ofKinds, slots], { onlyNew: true });
  let added = 0;
  let again = 0;
  for (let from = 0; from < made.length; from += contractLimits.insertRowsMax) {
    const page = made.slice(from, from + contractLimits.insertRowsMax);
    const done = await ports.store.backfill(id, page, { paceMs, slotKey: slots.key });
    if ("refused" in done) throw done.refused === "canceling" ? stillCanceling(id) : unknownSchedule(id);
    added += done.added;
    again += done.again;
    if ((await onPage?.(done)) === false) break;
  }
  const lanes = new Set(jobs.map(({ lane }) => lane));
  if (added + again > 0) await afterCommit(ports, { ...noAftermath, leftToRelay: [...lanes] });
  return { added, again };
}

const stillCanceling = (id: string): ScheduleRefused =>
  new ScheduleRefused(
    "backfill-refused",
    `schedule "${id}" was removed and made again, and jobs from before are still being canceled: try again in a minute`,
  );

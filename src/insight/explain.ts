/** Collects the facts about one time of a schedule, for `explainTime` to put into words. */
import { unitPrefixOf } from "../admission/gates.ts";
import { type TimeQuery, readTimeQuery } from "../calendar/asked-time.ts";
import { versionIntervalAt, versionIntervals } from "../calendar/version-intervals.ts";
import { explainTime } from "./explain-schedule.ts";
import type { Explanation, Followed } from "./explanation.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Instant, JobView } from "../machine/job.ts";
import type { Ports } from "../machine/ports.ts";
import type { Expression, OccurrenceView } from "../machine/schedule.ts";
import { ScheduleRefused, unknownSchedule } from "../schedule/schedule-refused.ts";
import type { ScheduleFacts } from "../machine/schedule-store.ts";
import { withEnds } from "./occurrence-ends.ts";
import { readMoves } from "./job.ts";
import { findHolder, readOccurrencesAt, type SlotHolder } from "./occurrences.ts";
import type { Database } from "./sql-query.ts";
import { openZone } from "../calendar/zone.ts";

export interface Explained extends Explanation {
  readonly schedule: string;
  /** The reading that was asked for, in the schedule's zone. */
  readonly localTime: string;
  readonly timezone: string;
  readonly version: number | null;
  readonly occurrence: OccurrenceView | null;
  readonly job: JobView | null;
}

interface Sources extends Pick<Ports, "store"> {
  readonly insight: Database;
}

interface Scope extends Sources {
  readonly sees: (kind: string) => boolean;
}

/**
 * What became of one time of a schedule, and why. A reading that the clock shows twice has two answers. `sees`: the kinds that
 * may be named, beside the schedule's own.
 * @throws ScheduleRefused when there never was such a schedule, or the time cannot be read.
 */
export async function explain(
  { store, insight }: Sources,
  id: string,
  time: string,
  sees: (kind: string) => boolean = () => true,
): Promise<readonly Explained[]> {
  const facts = await store.scheduleFacts(id);
  if (facts === null) throw unknownSchedule(id);
  const clock = await clockOf(store, facts);
  const asked = readAsked(clock, time);
  const found = await timesAt(insight, id, asked.localTime, asked.instants);
  const near = asked.isInstant ? found.filter((row) => asked.instants.includes(row.nominalAt)) : found;
  const own = near.filter((row) => isAsked(row, asked));
  const rows = own.length > 0 ? own : near;
  const scope = { store, insight, sees };
  if (rows.length === 0) return [await explainOne(scope, facts, asked, null)];
  return await Promise.all(rows.map((row) => explainOne(scope, facts, asked, row)));
}

/** Readings may have seconds. */
const timesAt = (insight: Database, id: string, localTime: string, instants: TimeQuery["instants"]) =>
  insight.run(readOccurrencesAt, { id, localTimes: [localTime, `${localTime}:00`], instants });

const isAsked = (row: OccurrenceView, { localTime }: TimeQuery): boolean =>
  row.localTime === localTime || row.localTime === `${localTime}:00`;

/** The readings of a chain are those of the schedule at its head. */
async function clockOf(store: Sources["store"], facts: ScheduleFacts): Promise<ScheduleFacts> {
  let head = facts;
  for (let steps = 0; steps < contractLimits.chainLengthMax; steps += 1) {
    const expression = versionIntervals(head.versions).at(-1)?.spec.expression;
    const before = expression?.form === "after" ? await store.scheduleFacts(expression.schedule) : null;
    if (before === null) break;
    head = before;
  }
  return head;
}

function readAsked(facts: ScheduleFacts, text: string): TimeQuery {
  const latest = versionIntervals(facts.versions).at(-1);
  const read = (zone: string): TimeQuery | null => readTimeQuery(text, openZone(zone), facts.now);
  const asked = read(latest?.spec.timezone ?? "UTC");
  if (asked === null) {
    throw new ScheduleRefused(
      "invalid-time",
      `time "${text}" cannot be read: write 09:00 for today, 2026-11-21T09:00 by the schedule's clock, or an instant with Z or its offset`,
    );
  }
  // The schedule may have had another zone then.
  const zone = versionIntervalAt(facts.versions, asked.near)?.spec.timezone;
  return zone === undefined ? asked : (read(zone) ?? asked);
}

async function explainOne(
  { store, insight, sees }: Scope,
  facts: ScheduleFacts,
  asked: TimeQuery,
  occurrence: OccurrenceView | null,
): Promise<Explained> {
  const near = occurrence?.nominalAt ?? asked.near;
  const byVersion = versionIntervals(facts.versions).find((each) => each.version === occurrence?.version);
  const interval = byVersion ?? versionIntervalAt(facts.versions, near);
  const job = occurrence?.jobId == null ? null : await store.job(occurrence.jobId);
  const last = job === null ? undefined : (await insight.run(readMoves, { ids: [job.id] })).at(-1);
  const isOfState = last !== undefined && last.to === job?.state;
  const [lastReason, lastCaller] = isOfState ? [last.reason, last.caller] : [null, null];
  const heldAt = isOfState && job?.hold === "slot" ? new Date(last.at).getTime() : null;
  const holding = await holderOf(insight, heldAt ?? facts.now, occurrence, job);
  const holder = holding !== null && sees(holding.kind) ? holding : null;
  const into = await intoOf(insight, facts, occurrence);
  const [ended] = job === null || occurrence === null ? [] : await withEnds(insight, [occurrence]);
  const followed = await followedBy({ store, insight, sees }, interval?.spec.expression, asked, occurrence);
  const explanation = explainTime({
    facts,
    asked,
    interval,
    occurrence,
    job,
    lastReason,
    lastCaller,
    end: ended?.end ?? null,
    holder,
    into,
    followed,
  });
  return {
    schedule: facts.row?.id ?? occurrence?.scheduleId ?? "",
    localTime: occurrence?.localTime ?? asked.localTime,
    timezone: occurrence?.timezone ?? followed?.occurrence?.timezone ?? interval?.spec.timezone ?? "UTC",
    version: interval?.version ?? null,
    occurrence,
    job,
    ...explanation,
  };
}

async function followedBy(
  { store, insight, sees }: Scope,
  chain: Expression | undefined,
  asked: TimeQuery,
  occurrence: OccurrenceView | null,
): Promise<Followed | null> {
  if (chain?.form !== "after") return null;
  const { localTime } = occurrence ?? asked;
  const rows = await timesAt(insight, chain.schedule, localTime, asked.instants);
  const isSame = (row: OccurrenceView): boolean =>
    row.localTime === localTime && row.fold === occurrence?.fold && row.timezone === occurrence.timezone;
  const before = rows.find(isSame) ?? rows.find((row) => isAsked(row, asked)) ?? rows[0] ?? null;
  const job = before?.jobId == null ? null : await store.job(before.jobId);
  const [ended] = before === null || (job !== null && !sees(job.kind)) ? [] : await withEnds(insight, [before]);
  return { chain, occurrence: before, end: ended?.end ?? null };
}

/** The job that kept this one from running, if that is still known. */
async function holderOf(
  insight: Database,
  now: Instant,
  occurrence: OccurrenceView | null,
  job: JobView | null,
): Promise<SlotHolder | null> {
  if (occurrence === null || job === null) return null;
  const prefix = unitPrefixOf(occurrence.reason ?? "");
  if (prefix === null && job.hold !== "slot") return null;
  const at = prefix === null ? now : (occurrence.decidedAt ?? now);
  return (await insight.run(findHolder, { id: job.id, at, prefix: prefix ?? "" }))[0] ?? null;
}

/**
 * The row that a COALESCED one was merged into: `into YYYY-MM-DDTHH:MM`. After a clock change it is another reading of the
 * same instant; after an outage a later time, which may be the second pass of the very same reading.
 */
async function intoOf(
  insight: Database,
  { row }: ScheduleFacts,
  occurrence: OccurrenceView | null,
): Promise<OccurrenceView | null> {
  const localTime = /^into (\S+)$/.exec(occurrence?.reason ?? "")?.[1];
  if (occurrence === null || localTime === undefined) return null;
  const rows = await insight.run(readOccurrencesAt, {
    id: row?.id ?? occurrence.scheduleId,
    localTimes: [localTime],
    instants: [],
  });
  const { nominalAt } = occurrence;
  const sameInstant = rows.find((each) => each.nominalAt === nominalAt && each.localTime !== occurrence.localTime);
  const later = rows.find((each) => each.nominalAt > nominalAt && each.outcome !== "COALESCED");
  return sameInstant ?? later ?? null;
}

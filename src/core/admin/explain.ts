/** Collects the facts about one time of a schedule, for `explainTime` to put into words. */
import { reasons } from "../job/reasons.ts";
import { type AskedTime, readAskedTime } from "../calendar/asked-time.ts";
import { versionIntervalAt, versionIntervals } from "../calendar/version-intervals.ts";
import { explainTime } from "./explain-schedule.ts";
import type { Explanation } from "./explanation.ts";
import type { JobView } from "../job/job.ts";
import type { Ports } from "../ports/ports.ts";
import type { OccurrenceView } from "../ports/schedule.ts";
import { ScheduleRefused, unknownSchedule } from "../scheduler/schedule-refused.ts";
import type { ScheduleFacts, SlotHolder } from "../ports/schedule-store.ts";
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

/**
 * What became of one time of a schedule, and why. A reading that the clock shows twice has two answers. `sees`: the kinds that
 * may be named, beside the schedule's own.
 * @throws ScheduleRefused when there never was such a schedule, or the time cannot be read.
 */
export async function explain(
  { store }: Pick<Ports, "store">,
  id: string,
  time: string,
  sees: (kind: string) => boolean = () => true,
): Promise<readonly Explained[]> {
  const facts = await store.scheduleFacts(id);
  if (facts === null) throw unknownSchedule(id);
  const asked = readAsked(facts, time);
  const found = await store.occurrencesAt(id, {
    localTimes: [asked.localTime, `${asked.localTime}:00`],
    instants: asked.instants,
  });
  const near = asked.isInstant ? found.filter((row) => asked.instants.includes(row.nominalAt)) : found;
  const own = near.filter((row) => isAsked(row, asked));
  const rows = own.length > 0 ? own : near;
  if (rows.length === 0) return [await explainOne({ store, sees }, facts, asked, null)];
  return await Promise.all(rows.map((row) => explainOne({ store, sees }, facts, asked, row)));
}

const isAsked = (row: OccurrenceView, { localTime }: AskedTime): boolean =>
  row.localTime === localTime || row.localTime === `${localTime}:00`;

function readAsked(facts: ScheduleFacts, text: string): AskedTime {
  const latest = versionIntervals(facts.versions).at(-1);
  const read = (zone: string): AskedTime | null => readAskedTime(text, openZone(zone), facts.now);
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
  { store, sees }: Pick<Ports, "store"> & { readonly sees: (kind: string) => boolean },
  facts: ScheduleFacts,
  asked: AskedTime,
  occurrence: OccurrenceView | null,
): Promise<Explained> {
  const near = occurrence?.nominalAt ?? asked.near;
  const byVersion = versionIntervals(facts.versions).find((each) => each.version === occurrence?.version);
  const interval = byVersion ?? versionIntervalAt(facts.versions, near);
  const found = occurrence?.jobId == null ? null : await store.job(occurrence.jobId);
  const job = found?.job ?? null;
  const last = found?.history.at(-1);
  const lastReason = last !== undefined && last.to === job?.state ? last.reason : null;
  const holding = await holderOf(store, facts, occurrence, job);
  const holder = holding !== null && sees(holding.job.kind) ? holding : null;
  const into = await intoOf(store, facts, occurrence);
  const explanation = explainTime({ facts, asked, interval, occurrence, job, lastReason, holder, into });
  return {
    schedule: facts.row?.id ?? occurrence?.scheduleId ?? "",
    localTime: occurrence?.localTime ?? asked.localTime,
    timezone: interval?.spec.timezone ?? "UTC",
    version: interval?.version ?? null,
    occurrence,
    job,
    ...explanation,
  };
}

type Reads = Pick<Ports, "store">["store"];

/** The job that kept this one from running, if that is still known. */
async function holderOf(
  store: Reads,
  { now }: ScheduleFacts,
  occurrence: OccurrenceView | null,
  job: JobView | null,
): Promise<SlotHolder | null> {
  if (occurrence === null || job === null) return null;
  if (occurrence.reason === reasons.overlap || occurrence.reason === reasons.lockHeld) {
    const prefix = occurrence.reason === reasons.overlap ? "overlap:" : "lock:";
    return await store.slotHolder(job.id, { at: occurrence.decidedAt ?? now, prefix });
  }
  return job.hold === "slot" ? await store.slotHolder(job.id, { at: now, prefix: "" }) : null;
}

/**
 * The row that a COALESCED one was merged into: `into YYYY-MM-DDTHH:MM`. After a clock change it is another reading of the
 * same instant; after an outage a later time, which may be the second pass of the very same reading.
 */
async function intoOf(
  store: Reads,
  { row }: ScheduleFacts,
  occurrence: OccurrenceView | null,
): Promise<OccurrenceView | null> {
  const localTime = /^into (\S+)$/.exec(occurrence?.reason ?? "")?.[1];
  if (occurrence === null || localTime === undefined) return null;
  const rows = await store.occurrencesAt(row?.id ?? occurrence.scheduleId, { localTimes: [localTime], instants: [] });
  const { nominalAt } = occurrence;
  const sameInstant = rows.find((each) => each.nominalAt === nominalAt && each.localTime !== occurrence.localTime);
  const later = rows.find((each) => each.nominalAt > nominalAt && each.outcome !== "COALESCED");
  return sameInstant ?? later ?? null;
}

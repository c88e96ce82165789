import { expect, test } from "vitest";
import type { ScheduleSpec } from "../../../src/machine/schedule.ts";
import type { TestStore } from "../../support/looks.ts";
import { claimOne, minute, only, running, settleOne, show, dispatchWindowMs, contract, type At } from "./fixture.ts";
import { aSpec, dueOccurrence, ledger, occurrenceAt, planned } from "./schedule-fixture.ts";
import { aPause } from "../../support/pause.ts";

export const scheduleControlContract = contract({
  "schedules that people make": making,
  "pauseSchedule and deleteSchedule": stopping,
  "scheduleFacts and occurrences by time": looking,
  slotHolder: holding,
});

const faster: Partial<ScheduleSpec> = { expression: { form: "every", everyMs: minute } };

async function factsOf(store: TestStore, id = "every-minute") {
  const facts = await store.scheduleFacts(id);
  if (facts === null) throw new Error(`schedule ${id} never was`);
  return facts;
}

function making({ store }: At): void {
  test("a created schedule begins now, is the API's and is due for a tick", async () => {
    const before = await store.now();
    const row = await store.createSchedule(aSpec());
    expect(row).toMatchObject({ id: "every-minute", version: 1, source: "api", pause: null, spec: aSpec() });
    const due = await store.dueSchedules({ horizonMs: dispatchWindowMs, limit: 10 });
    expect(only(due.schedules).decidedUntil).toBeGreaterThanOrEqual(before);
  });

  test("an id that exists is not created again, by code or by the API", async () => {
    await store.installSchedules([aSpec()]);
    expect(await store.createSchedule(aSpec(faster))).toEqual({ refused: "exists" });
    expect(only(await store.schedules())).toMatchObject({ source: "code", spec: aSpec() });
  });

  test("an update is a new version and withdraws what was planned after now; an equal one changes nothing", async () => {
    await store.createSchedule(aSpec());
    const soon = (await store.now()) + minute;
    const { outbox } = (await planned(store, [occurrenceAt(soon)])).aftermath;
    const equal = await store.updateSchedule(aSpec());
    expect([equal, (await ledger(store)).length]).toEqual([expect.objectContaining({ version: 1 }), 1]);
    expect(await store.updateSchedule(aSpec(faster))).toMatchObject({ version: 2, source: "api", spec: aSpec(faster) });
    expect(await ledger(store)).toEqual([]);
    const { job, events } = await show(store, only(only(outbox).messages).jobId);
    expect([job.state, events.at(-1)?.reason]).toEqual(["CANCELED", "withdrawn"]);
  });

  test("code wins for its own ids: they are neither updated nor deleted", async () => {
    await store.installSchedules([aSpec()]);
    expect(await store.updateSchedule(aSpec(faster))).toEqual({ refused: "code" });
    expect(await store.deleteSchedule("every-minute")).toEqual({ refused: "code" });
    expect(only(await store.schedules())).toMatchObject({ version: 1, spec: aSpec() });
    expect(await store.deleteSchedule("every-minute", { ofCode: true })).toEqual({ waiting: 0 });
    expect(await store.schedules()).toEqual([]);
  });

  test("a change that was made for another version changes nothing, also when both come at once", async () => {
    await store.createSchedule(aSpec());
    const first = { ifVersions: [1] };
    const both = [aSpec(faster), aSpec({ overlap: "skip" })].map((spec) => store.updateSchedule(spec, first));
    const answers = await Promise.all(both);
    expect(answers.filter((answer) => "refused" in answer)).toEqual([{ refused: "version", version: 2 }]);
    expect(await store.updateSchedule(aSpec(), { ifVersions: [] })).toEqual({ refused: "version", version: 2 });
    expect(await store.deleteSchedule("every-minute", first)).toEqual({ refused: "version", version: 2 });
    expect(await store.deleteSchedule("every-minute", { ifVersions: [1, 2] })).toEqual({ waiting: 0 });
  });

  test("what does not exist is neither updated, paused nor deleted", async () => {
    expect(await store.updateSchedule(aSpec())).toEqual({ refused: "unknown" });
    expect(await store.pauseSchedule("every-minute", aPause)).toEqual({ refused: "unknown" });
    expect(await store.deleteSchedule("every-minute")).toEqual({ refused: "unknown" });
  });

  test("installing code leaves the API's schedules of the same app alone", async () => {
    await store.createSchedule(aSpec());
    await store.installSchedules([aSpec({ id: "other" })]);
    expect((await store.schedules()).map((row) => row.id).toSorted()).toEqual(["every-minute", "other"]);
  });
}

function stopping({ store, advance }: At): void {
  test("a pause is decided at claim, also for what was dispatched, and a resume lets the next one run", async () => {
    const { jobId, nominalAt } = await dueOccurrence(store);
    expect(await store.pauseSchedule("every-minute", aPause)).toMatchObject({
      pause: { by: "ada", until: null },
      version: 1,
    });
    expect(await claimOne(store, jobId)).toMatchObject({ state: "SKIPPED", reason: "paused" });
    expect(await store.pauseSchedule("every-minute", null)).toMatchObject({ pause: null });
    await advance(minute);
    const { outbox } = (await planned(store, [occurrenceAt(nominalAt + minute)])).aftermath;
    expect(await claimOne(store, only(only(outbox).messages).jobId)).toMatchObject({ state: "RUNNING" });
  });

  test("a pause with an end holds until then and ends by itself; the same pause again keeps its beginning", async () => {
    const { jobId, nominalAt } = await dueOccurrence(store);
    const until = (await store.now()) + minute;
    const wanted = { by: "ada", reason: "mail is away", until };
    const first = await store.pauseSchedule("every-minute", wanted);
    expect(first).toMatchObject({ pause: wanted });
    expect(await store.pauseSchedule("every-minute", { ...wanted, by: "bob" })).toEqual(first);
    expect(await claimOne(store, jobId)).toMatchObject({ state: "SKIPPED", reason: "paused" });
    await advance(minute);
    expect(only(await store.schedules())).toMatchObject({ pause: null });
    const { outbox } = (await planned(store, [occurrenceAt(nominalAt + minute)])).aftermath;
    expect(await claimOne(store, only(only(outbox).messages).jobId)).toMatchObject({ state: "RUNNING" });
  });

  test("a pause outlives a deploy", async () => {
    await store.installSchedules([aSpec()]);
    await store.pauseSchedule("every-minute", aPause);
    await store.installSchedules([aSpec(faster)]);
    expect(only(await store.schedules())).toMatchObject({ version: 2, pause: { by: "ada" } });
  });

  test("a delete says how many jobs of past times were waiting", async () => {
    await store.createSchedule(aSpec());
    const now = await store.now();
    await planned(
      store,
      [-2, -1, 1].map((k) => occurrenceAt(now + k * minute)),
    );
    expect(await store.deleteSchedule("every-minute")).toEqual({ waiting: 2 });
  });

  test("a schedule that comes back goes on with its versions", async () => {
    await store.createSchedule(aSpec());
    await store.deleteSchedule("every-minute");
    expect(await store.createSchedule(aSpec(faster))).toMatchObject({ version: 3 });
    const { versions } = await factsOf(store);
    expect(versions.map((each) => [each.version, each.spec?.expression.form ?? null])).toEqual([
      [1, "cron"],
      [2, null],
      [3, "every"],
    ]);
  });

  test("a schedule that code drops and brings back goes on with its versions too", async () => {
    await store.installSchedules([aSpec(), aSpec({ id: "stays" })]);
    await store.installSchedules([aSpec({ id: "stays" })]);
    await store.installSchedules([aSpec(), aSpec({ id: "stays" })]);
    const { versions, row } = await factsOf(store);
    expect([row?.version, versions.map((each) => each.spec === null)]).toEqual([3, [false, true, false]]);
  });
}

function looking({ store, advance }: At): void {
  test("the facts tell the versions with the time each began, and from when on the ledger is complete", async () => {
    expect(await store.scheduleFacts("every-minute")).toBeNull();
    await store.installSchedules([aSpec()]);
    const { decidedUntil } = only(await store.schedules());
    await advance(minute);
    await store.installSchedules([aSpec(faster)]);
    const facts = await factsOf(store);
    expect(facts.row).toMatchObject({ version: 2 });
    expect(facts.ledgerFrom).toBe(decidedUntil);
    expect(facts.versions.map((each) => [each.version, each.spec])).toEqual([
      [1, aSpec()],
      [2, aSpec(faster)],
    ]);
    const [first, second] = facts.versions.map((each) => each.fromAt);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(minute);
    expect(facts.now).toBeGreaterThanOrEqual(second ?? Number.NaN);
  });

  test("the facts of a deleted schedule have no row", async () => {
    await store.createSchedule(aSpec());
    await store.deleteSchedule("every-minute");
    expect(await factsOf(store)).toMatchObject({ row: null, ledgerFrom: null });
  });

  test("occurrences are found by reading, by instant and by window, the oldest first", async () => {
    await store.installSchedules([aSpec()]);
    const now = await store.now();
    const times = [1, 2, 3].map((k) => occurrenceAt(now + k * minute));
    await planned(store, times);
    const minutes = (rows: readonly { nominalAt: number }[]) => rows.map((row) => (row.nominalAt - now) / minute);
    const by = { localTimes: [times[2]?.localTime ?? ""], instants: [now + minute] };
    expect(minutes(await store.occurrencesAt("every-minute", by))).toEqual([1, 3]);
    expect(minutes(await store.occurrencesAt("every-minute", { localTimes: [], instants: [now + 1] }))).toEqual([]);
    const between = (until: number, limit: number) =>
      store.occurrencesBetween("every-minute", now + minute, until, limit);
    expect(minutes(await between(now + 2 * minute, 10))).toEqual([1, 2]);
    expect(minutes(await between(now + 9 * minute, 2))).toEqual([1, 2]);
  });
}

function holding({ store, advance }: At): void {
  const group = { key: "overlap:s", size: 1, onRefusal: "skip", reason: "overlap" } as const;

  test("names the job that had the slot at that time, also when it has finished since", async () => {
    await store.installSlots([group]);
    const earlier = await running(store, { slotKeys: ["overlap:s"] });
    await settleOne(store, earlier);
    await advance(minute);
    const holder = await running(store, { slotKeys: ["overlap:s"] });
    const other = await running(store, { slotKeys: [] });
    await advance(minute);
    const now = await store.now();
    const { results } = await store.insert([]);
    expect(results).toEqual([]);
    const refused = await running(store, {}).then((job) => job.jobId);
    const asked = { at: now, prefix: "overlap:" };
    expect(await store.slotHolder(refused, asked)).toBeNull();
    const jobId = await skippedBy(store);
    expect((await store.slotHolder(jobId, asked))?.id).toBe(holder.jobId);
    await settleOne(store, holder);
    await settleOne(store, other);
    expect((await store.slotHolder(jobId, asked))?.id).toBe(holder.jobId);
    expect(await store.slotHolder(jobId, { at: now + 60 * minute, prefix: "overlap:" })).toBeNull();
    expect(await store.slotHolder(jobId, { at: now, prefix: "lock:" })).toBeNull();
  });
}

async function skippedBy(store: TestStore) {
  const { results } = await store.insert([aSkipped]);
  const { id } = only(results);
  expect(await claimOne(store, id)).toMatchObject({ state: "SKIPPED", reason: "overlap" });
  return id;
}

const { payload: _payload, ...template } = { ...aSpec().job, payload: null };
const aSkipped = {
  ...template,
  key: null,
  payload: {},
  dueAt: null,
  delayMs: 0,
  expiresAt: null,
  trace: "t",
  slotKeys: ["overlap:s"],
};

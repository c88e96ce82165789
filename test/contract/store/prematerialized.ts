import type { RunId } from "../../../src/machine/job.ts";
import { expect, test } from "vitest";
import type { TestStore } from "../../support/looks.ts";
import type { ScheduleSpec } from "../../../src/machine/schedule.ts";
import { aJob, claimOne, minute, only, settleOne, show, contract, type At } from "./fixture.ts";
import { aRun } from "./run-fixture.ts";
import { aSpec, ledger, occurrenceAt, planned } from "./schedule-fixture.ts";
import { aPause } from "../../support/pause.ts";

/** So that targets ten minutes ahead are dispatched as they are written. */
export const dispatchWindowMs = 20 * minute;
const ahead = 10 * minute;
const users = ["ada", "bob"];

/** A schedule that fires once, at `at`, and whose job writes its targets ten minutes before. */
export const quizAt = (at: number, over: Partial<ScheduleSpec> = {}): ScheduleSpec =>
  aSpec({ expression: { form: "at", at }, materializeBeforeMs: ahead, ...over });

/** Begins the job of one nominal time: it has a run and one page of targets, and is still at it. */
export async function beginWriting(store: TestStore, nominalAt: number, version = 1) {
  const job = aJob({ kind: "sweep", dueAt: await store.now() });
  const { outbox } = (await planned(store, [occurrenceAt(nominalAt, { job })], { version })).aftermath;
  const starter = await claimOne(store, only(only(outbox).messages).jobId);
  const { jobId } = starter;
  const { runId } = await store.startRun(aRun({ key: `run-${jobId}`, starterId: jobId, sealed: false }));
  const targets = users.map((key) => ({ job: aJob({ kind: "push", key, dueAt: nominalAt }), row: null }));
  const addPage = () => store.addPage(runId, { targets, cursor: null, by: starter });
  return { starter, runId, addPage };
}

/** A quiz in ten minutes, with its targets in the queue and its job done. */
export async function prematerialized(store: TestStore, over: Partial<ScheduleSpec> = {}) {
  const nominalAt = (await store.now()) + ahead;
  await store.createSchedule(quizAt(nominalAt, over));
  const { starter, runId, addPage } = await beginWriting(store, nominalAt);
  const { outbox } = (await addPage()).aftermath;
  await store.sealRun(runId, {});
  await settleOne(store, starter);
  const { messages } = only(outbox);
  return {
    nominalAt,
    runId,
    starter,
    messages,
    claim: async () => (await store.claim(messages, { worker: "w", alone: false })).claimed,
  };
}

export async function cancelPages(store: TestStore, runId: RunId): Promise<void> {
  while ((await store.cancelPage(runId, { limit: 1 })).canceled > 0);
  for (let more = true; more;) ({ more } = await store.resolve({ runs: [runId], limit: 10 }));
}

const states = async (store: TestStore, runId: RunId) =>
  (await store.tasks(runId)).map((task) => `${task.key} ${task.state}`);

export const prematerializedContract = contract(
  { "what a schedule has written ahead": [pausing, takingBack, writingAgain] },
  { dispatchWindowMs },
);

function pausing({ store, advance }: At): void {
  test("runs at its time, and a pause after that stops nothing of it", async () => {
    const { runId, claim } = await prematerialized(store);
    await advance(ahead);
    await store.pauseSchedule("every-minute", aPause);
    expect((await claim()).map((job) => job.state)).toEqual(["RUNNING", "RUNNING"]);
    expect(await store.decidePrematerialized({ limit: 10 })).toEqual({ decided: 0, withdrawn: 0 });
    expect(await store.run(runId)).toMatchObject({ state: "RUNNING" });
    expect(only(await ledger(store))).toMatchObject({ outcome: "FIRED" });
  });

  test("does not run when the schedule is paused at its time, nor after a later resume; the time is SKIPPED", async () => {
    const { runId, claim } = await prematerialized(store);
    await store.pauseSchedule("every-minute", aPause);
    await advance(ahead);
    expect((await claim()).map((job) => [job.state, job.reason])).toEqual([
      ["SKIPPED", "paused"],
      ["SKIPPED", "paused"],
    ]);
    await store.pauseSchedule("every-minute", null);
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "paused" });
    await cancelPages(store, runId);
    expect(await store.run(runId)).toMatchObject({ state: "CANCELED", skipped: 2 });
  });

  test("that no worker claimed while the schedule was paused is CANCELED by the pass that decides its time", async () => {
    const { claim } = await prematerialized(store);
    await store.pauseSchedule("every-minute", aPause);
    expect(await store.decidePrematerialized({ limit: 10 })).toEqual({ decided: 0, withdrawn: 0 });
    await advance(ahead);
    expect(await store.decidePrematerialized({ limit: 10 })).toEqual({ decided: 1, withdrawn: 1 });
    expect(await store.decidePrematerialized({ limit: 10 })).toEqual({ decided: 0, withdrawn: 0 });
    expect((await claim()).map((job) => job.state)).toEqual(["CANCELED", "CANCELED"]);
    expect(only(await ledger(store))).toMatchObject({ outcome: "SKIPPED", reason: "paused" });
  });

  test("runs when the schedule was resumed before its time", async () => {
    const { claim } = await prematerialized(store);
    await store.pauseSchedule("every-minute", aPause);
    await advance(ahead / 2);
    await store.pauseSchedule("every-minute", null);
    await advance(ahead / 2);
    expect((await claim()).map((job) => job.state)).toEqual(["RUNNING", "RUNNING"]);
    expect(only(await ledger(store))).toMatchObject({ outcome: "FIRED" });
  });
}

function takingBack({ store, advance }: At): void {
  const edits: readonly (readonly [string, (spec: ScheduleSpec) => ScheduleSpec])[] = [
    ["moves its time", (spec) => ({ ...spec, expression: { form: "cron", cron: "0 0 1 1 *" } })],
    ["switches the schedule off", (spec) => ({ ...spec, enabled: false })],
    ["gives it another payload", (spec) => ({ ...spec, payload: { quiz: 2 } })],
    ["gives it to another job", (spec) => ({ ...spec, job: { ...spec.job, kind: "other" } })],
    ["reads it in another zone", (spec) => ({ ...spec, timezone: "Europe/London" })],
  ];

  test.each(edits)(
    "is withdrawn by an edit that %s: nothing of it starts, and the row is gone",
    async (_name, edit) => {
      const { nominalAt, runId, claim } = await prematerialized(store);
      await store.updateSchedule(edit(quizAt(nominalAt)));
      expect(await ledger(store)).toEqual([]);
      await advance(ahead);
      expect((await claim()).map((job) => job.state)).toEqual(["CANCELED", "CANCELED"]);
      await cancelPages(store, runId);
      expect(await store.run(runId)).toMatchObject({ state: "CANCELED" });
    },
  );

  test("stays when an edit changes neither its time nor what it would write", async () => {
    const { nominalAt, claim } = await prematerialized(store);
    await store.updateSchedule(quizAt(nominalAt, { overlap: "skip" }));
    await advance(ahead);
    expect((await claim()).map((job) => job.state)).toEqual(["RUNNING", "RUNNING"]);
    expect(only(await ledger(store))).toMatchObject({ outcome: "FIRED" });
  });

  test("is withdrawn by a deletion through the API and by code that drops it", async () => {
    const { runId } = await prematerialized(store);
    await store.deleteSchedule("every-minute");
    await cancelPages(store, runId);
    expect(await states(store, runId)).toEqual(["ada CANCELED", "bob CANCELED"]);
    const { events } = await show(store, only((await store.tasks(runId)).slice(0, 1)).jobId);
    expect(events.at(-1)).toMatchObject({ to: "CANCELED", reason: "withdrawn" });
  });

  test("by code that is dropped is withdrawn; a try that still writes its pages is CANCELED and writes no more", async () => {
    const nominalAt = (await store.now()) + ahead;
    await store.installSchedules([quizAt(nominalAt)]);
    const { starter, runId, addPage } = await beginWriting(store, nominalAt);
    await addPage();
    await store.installSchedules([], { apps: [aSpec().app] });
    expect((await show(store, starter.jobId)).job.state).toBe("CANCELED");
    expect(await addPage()).toMatchObject({ written: false });
    await cancelPages(store, runId);
    expect(await store.run(runId)).toMatchObject({ state: "CANCELED" });
    expect(await store.occurrences("every-minute")).toEqual([]);
  });

  test("by a job that was canceled before its last page is closed when its time comes", async () => {
    const nominalAt = (await store.now()) + ahead;
    await store.createSchedule(quizAt(nominalAt));
    const { starter, runId } = await beginWriting(store, nominalAt);
    await store.cancel([starter.jobId]);
    await advance(ahead);
    await store.decidePrematerialized({ limit: 10 });
    await cancelPages(store, runId);
    expect(await store.run(runId)).toMatchObject({ state: "CANCELED" });
  });

  test("that ran already, as a clock says that was set back since, stays in the ledger", async () => {
    const { nominalAt, claim } = await prematerialized(store);
    await advance(ahead);
    await store.decidePrematerialized({ limit: 10 });
    await claim();
    await advance(-ahead);
    await store.updateSchedule(quizAt(nominalAt + minute));
    expect(only(await ledger(store))).toMatchObject({ outcome: "FIRED" });
  });
}

function writingAgain({ store }: At): void {
  test("that was withdrawn is written again under the same keys for the new time", async () => {
    const { nominalAt, runId } = await prematerialized(store);
    await store.updateSchedule(quizAt(nominalAt + minute));
    await cancelPages(store, runId);
    const again = await beginWriting(store, nominalAt + minute, 2);
    expect(await again.addPage()).toMatchObject({ written: true, created: 2 });
    expect(await states(store, again.runId)).toEqual(["ada QUEUED", "bob QUEUED"]);
    expect(await states(store, runId)).toEqual([
      expect.stringMatching(/^ada#withdrawn:\d+ CANCELED$/),
      expect.stringMatching(/^bob#withdrawn:\d+ CANCELED$/),
    ]);
    expect(await again.addPage()).toMatchObject({ written: true, created: 0 });
  });

  test("whose targets are not CANCELED yet keeps its keys: the page is not written, and can be tried again", async () => {
    const { nominalAt, runId } = await prematerialized(store);
    await store.updateSchedule(quizAt(nominalAt + minute));
    const again = await beginWriting(store, nominalAt + minute, 2);
    await expect(again.addPage()).rejects.toThrow("is still being withdrawn");
    expect(await store.cancelingRuns(10, { withdrawn: aRun().kind })).toEqual([runId]);
    expect(await store.cancelingRuns(10, { withdrawn: "another" })).toEqual([]);
    await cancelPages(store, runId);
    expect(await again.addPage()).toMatchObject({ written: true, created: 2 });
  });

  test("keeps a key whose job a person resumed", async () => {
    const { nominalAt, runId } = await prematerialized(store);
    await store.updateSchedule(quizAt(nominalAt + minute));
    await cancelPages(store, runId);
    expect((await store.resumeRun(runId, {})).ids).toHaveLength(2);
    const again = await beginWriting(store, nominalAt + minute, 2);
    expect(await again.addPage()).toMatchObject({ written: true, created: 0 });
  });
}

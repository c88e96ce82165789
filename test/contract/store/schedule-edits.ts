import { expect, test } from "vitest";
import { minute, only, contract, type At } from "./fixture.ts";
import { aSpec, ledger, occurrenceAt, planned } from "./schedule-fixture.ts";
import { aPause } from "../../support/pause.ts";

export const editsContract = contract({ "installSchedules: edits": editing, "the ledger's pages": paging });

function editing({ store, advance }: At): void {
  test("an edit of a schedule with undecided times says so to the tick; one that has decided all does not", async () => {
    await store.installSchedules([aSpec()]);
    await planned(store, [], { decidedUntil: (await store.now()) + minute });
    await store.installSchedules([aSpec({ overlap: "skip" })]);
    expect(only(await store.schedules()).carry?.edited).toBeUndefined();
    await advance(10 * minute);
    const { decidedUntil } = only(await store.schedules());
    await store.installSchedules([aSpec({ overlap: "queue-one" })]);
    const row = only(await store.schedules());
    expect(row).toMatchObject({ decidedUntil, version: 3, carry: { edited: true } });
    const [first, second] = [decidedUntil + minute, decidedUntil + 2 * minute];
    const skipped = { outcome: "SKIPPED", reason: "misfire", job: null } as const;
    const occurrences = [occurrenceAt(first, { ...skipped, version: 2 }), occurrenceAt(second, skipped)];
    await planned(store, occurrences, { version: 3, carry: null });
    expect((await ledger(store)).map((each) => each.version)).toEqual([3, 2]);
  });

  test("an edit leaves the beginning of the ledger: what ran before it stays on record", async () => {
    await store.installSchedules([aSpec()]);
    const before = await store.scheduleFacts("every-minute");
    await advance(minute);
    await store.installSchedules([aSpec({ overlap: "skip" })]);
    expect((await store.scheduleFacts("every-minute"))?.ledgerFrom).toBe(before?.ledgerFrom);
  });

  test("a schedule that is switched off is due only as long as times of before are undecided", async () => {
    const due = async () => (await store.dueSchedules({ horizonMs: 0, limit: 10 })).schedules.length;
    await store.installSchedules([aSpec()]);
    await advance(10 * minute);
    const { decidedUntil } = only(await store.schedules());
    await store.installSchedules([aSpec({ enabled: false })]);
    expect([await due(), only(await store.schedules()).decidedUntil]).toEqual([1, decidedUntil]);
    await store.installSchedules([aSpec()]);
    expect(only(await store.schedules()).decidedUntil).toBe(decidedUntil);
    await store.installSchedules([aSpec({ enabled: false })]);
    await planned(store, [], { version: 4, decidedUntil: (await store.now()) + 1, nextAt: null, carry: null });
    expect(await due()).toBe(0);
  });

  test("code takes over an id that people made: a new version, and its pause stays", async () => {
    await store.createSchedule(aSpec());
    await store.pauseSchedule("every-minute", aPause);
    await store.installSchedules([aSpec({ overlap: "skip" })]);
    expect(only(await store.schedules())).toMatchObject({ source: "code", version: 2, pause: { by: "ada" } });
    expect(await store.updateSchedule(aSpec())).toEqual({ refused: "code" });
  });

  test("code takes over an id that people made also when nothing else differs", async () => {
    await store.createSchedule(aSpec());
    await store.installSchedules([aSpec()]);
    expect(only(await store.schedules())).toMatchObject({ source: "code", version: 1 });
    await store.installSchedules([], { apps: [aSpec().app] });
    expect(await store.schedules()).toEqual([]);
  });
}

function paging({ store }: At): void {
  test("follow each other, the newest first, and leave out no row that shares an instant with another", async () => {
    await store.installSchedules([aSpec()]);
    const now = Math.floor(await store.now());
    const merged = { outcome: "COALESCED", reason: "into 00:00", job: null } as const;
    await planned(store, [
      occurrenceAt(now),
      ...["a", "b"].map((localTime) => occurrenceAt(now + minute, { ...merged, localTime })),
      occurrenceAt(now + minute, { ...merged, localTime: "b", timezone: "Asia/Seoul" }),
      occurrenceAt(now + minute, { ...merged, localTime: "b", fold: 1 }),
      occurrenceAt(now + 2 * minute),
    ]);
    const all = await store.occurrences("every-minute");
    expect(all.map((row) => (row.nominalAt - now) / minute)).toEqual([2, 1, 1, 1, 1, 0]);
    const paged: (typeof all)[number][] = [];
    for (const _ of all) paged.push(...(await store.occurrences("every-minute", paged.at(-1), 1)));
    expect(paged).toEqual(all);
    expect(await store.occurrences("every-minute", paged.at(-1))).toEqual([]);
  });
}

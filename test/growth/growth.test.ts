import { readdirSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createArchiveSource } from "../../src/postgres/archive-source.ts";
import { compare, costOf, quietest } from "../../bench/growth/compare.ts";
import { write, writePastDay } from "../../bench/growth/fill.ts";
import { cpuUs } from "../../bench/backend-cpu.ts";
import { requests, screens } from "../../bench/growth/requests.ts";
import { openWorld } from "../../bench/growth/world.ts";
import type { JobId } from "../../src/machine/job.ts";
import { endpoints } from "../api/document.ts";
import { testDatabase } from "../support/database.ts";
import { readEvents } from "../../src/insight/stream.ts";

test("every route has a line, and each of its lines asks that route", () => {
  expect(Object.keys(requests).toSorted()).toEqual(endpoints.map(({ name }) => name).toSorted());
  for (const { name, method, path } of endpoints) {
    const pattern = new RegExp(`^${method} ${path.replaceAll(/:\w+/g, "[^/?]+")}(\\?.*)?$`);
    expect(requests[name].length).toBeGreaterThan(0);
    for (const each of requests[name]) expect(`${each.method} ${each.path}`).toMatch(pattern);
  }
});

test("every screen of the console has a line of requests that are measured", () => {
  const files = readdirSync(new URL("../../src/console/screens/", import.meta.url));
  expect(Object.keys(screens).toSorted()).toEqual(files.map((file) => file.replace(".tsx", "")).toSorted());
  const paths = new Set(Object.values(requests).flatMap((all) => all.map((each) => each.path)));
  const asked = Object.values(screens).flat();
  expect(asked.filter((path) => !paths.has(path))).toEqual([]);
});

/** What a relay that finds nothing due costs beside so many units of jobs that are due later, with its index and without. */
async function relayBeside(count: number) {
  const database = await testDatabase({ own: true });
  await write(database.pool, "PENDING jobs, due later", count);
  await database.pool.query("analyze belfry.job");
  const world = await openWorld(database);
  onTestFinished(() => world.close());
  const relayed = async () => {
    world.plans.length = 0;
    expect(await world.store.relay({ limit: 10 })).toEqual([]);
    return costOf(world.plans.filter((plan) => plan.name === "relay"));
  };
  const whole = await relayed();
  await database.pool.query("drop index belfry.job_wait");
  return { whole, damaged: await relayed() };
}

test("a statement with its index costs the same beside ten times as many rows; without it the table it scans is named", async () => {
  const [few, many] = [await relayBeside(600), await relayBeside(6_000)];
  expect(compare(["statement", "relay"], few.whole, many.whole)).toMatchObject({ verdict: "O(1)", grown: null });
  const line = compare(["statement", "relay"], few.damaged, many.damaged);
  expect(line).toMatchObject({ verdict: "worse", grown: "job" });
  expect(line.ratio).toBeGreaterThan(5);
});

test("a stream reads what is new, however many events are kept", async () => {
  const polled = async (count: number) => {
    const database = await testDatabase({ own: true });
    // The product's own: that of tests notes each id it draws behind all others of the transaction.
    await database.pool.query(
      "drop function belfry.next_event(); alter function belfry.draw_event() rename to next_event",
    );
    await write(database.pool, "events", count);
    await database.pool.query("analyze belfry.event");
    const world = await openWorld(database);
    onTestFinished(() => world.close());
    let { cursor } = await readEvents(world.insight, null, 10);
    // Other tests' open transactions are looked for too: a poll between two looks without any counts.
    for (let n = 0, quiet = 0; quiet < 5 && n < 20_000; n += 1) {
      ({ cursor } = await readEvents(world.insight, cursor, 10));
      quiet = /~(\d+):\1:/.test(cursor) ? quiet + 1 : 0;
    }
    return quietest(world.plans.filter((plan) => plan.name === "stream").map((plan) => costOf([plan])));
  };
  const measured = async () => compare(["statement", "stream"], await polled(3_000), await polled(30_000));
  let line = await measured();
  // One that is open all along is read past each time: then both are measured again.
  for (let n = 0; n < 8 && line.verdict === "worse"; n += 1) line = await measured();
  expect(line).not.toMatchObject({ verdict: "worse" });
});

test("a page of a day that leaves for the archive costs the same, however many rows the day has", async () => {
  const paged = async (count: number) => {
    const database = await testDatabase({ own: true });
    await writePastDay(database.pool, count);
    const world = await openWorld(database);
    onTestFinished(() => world.close());
    const source = createArchiveSource(world.connections);
    for (const part of ["events", "history"] as const) expect((await source.next(part))?.rows.length).toBe(1_000);
    return costOf(world.plans.filter(({ name }) => name === "archive-events" || name === "archive-histories"));
  };
  const line = compare(["statement", "archive"], await paged(2_000), await paged(20_000));
  expect(line).not.toMatchObject({ verdict: "worse" });
});

test("a cancel costs each job the same, however many it cancels, beside slots that no statistics know of", async () => {
  const canceled = async (count: number) => {
    const database = await testDatabase({ own: true, connections: 1 });
    await write(database.pool, "PENDING jobs, due later", count);
    const { rows: ids } = await database.pool.query<{ id: string }>("select id from belfry.job");
    const { rows } = await database.connections.main.query<{ pid: number }>("select pg_backend_pid() as pid");
    const usedUs = () => cpuUs(rows[0]?.pid ?? 0);
    const beforeUs = usedUs();
    expect((await database.store.cancel(ids.map(({ id }) => id as JobId))).rows).toHaveLength(count);
    return (usedUs() - beforeUs) / count;
  };
  const [few, many] = [await canceled(1_500), await canceled(15_000)];
  // Each job against each other one would be ten times as much.
  expect(many).toBeLessThan(3 * few);
});

const nothing = { answered: 1, rows: 0, read: 0, milliseconds: 0, pagesOf: new Map(), writes: [] };
const free = { ...nothing, pages: 0, descents: new Map([["by_id", 2]]) };
const levelsOf = (few: number, many: number) => ({
  levels: { few: new Map([["by_id", few]]), many: new Map([["by_id", many]]) },
});

test("a rise by the levels that the plan's indexes have more is O(log N), and a page beyond them and one a descent is not", () => {
  const grownTo = (pages: number, levels: number) =>
    compare(["statement", "one"], { ...free, pages: 2 }, { ...free, pages }, levelsOf(1, 1 + levels)).verdict;
  expect(grownTo(4, 1)).toBe("O(log N)");
  expect(grownTo(6, 1)).toBe("O(rows)");
  expect(grownTo(7, 1)).toBe("worse");
  expect(grownTo(5, 0)).toBe("worse");
});

test("as many rows on more pages are O(rows), and a page beyond one for each and the way down is worse", () => {
  const grownTo = (pages: number, read: number, readsMax?: number) => {
    const [few, many] = [
      { ...free, pages: 4, read: 10 },
      { ...free, pages, read },
    ];
    return compare(["statement", "many"], few, many, { ...levelsOf(1, 1), readsMax }).verdict;
  };
  expect([grownTo(14, 10), grownTo(15, 10), grownTo(14, 11)]).toEqual(["O(rows)", "worse", "worse"]);
  expect([grownTo(54, 50, 50), grownTo(55, 51, 50)]).toEqual(["O(rows)", "worse"]);
});

test("a row that is written may go down each index of its table and look for room, and no other row or page", () => {
  const grownTo = (pages: number, rows: number, ownPages = pages) => {
    const written = (own: number, of: number) => [{ table: "job", rows: of, pages: own }];
    const [few, many] = [
      { ...free, pages: 10, writes: written(10, 2) },
      { ...free, pages, writes: written(ownPages, rows) },
    ];
    const levels = { few: new Map(), many: new Map([["job", 12]]) };
    return compare(["statement", "insert"], few, many, { levels }).verdict;
  };
  expect([grownTo(36, 2), grownTo(37, 2)]).toEqual(["O(rows)", "worse"]);
  expect([grownTo(36, 3), grownTo(36, 2, 30)]).toEqual(["worse", "worse"]);
});

test("a longer list is judged by the page a row", () => {
  const cost = (pages: number, answered: number) => ({ ...free, pages, answered });
  expect(compare(["statement", "list"], cost(10, 100), cost(100, 1_000)).verdict).toBe("O(1)");
  expect(compare(["statement", "list"], cost(10, 100), cost(100, 100)).verdict).toBe("worse");
  expect(compare(["statement", "list"], cost(10, 100), cost(13, 100)).verdict).toBe("O(log N)");
});

import type { JobId, NewJob } from "../../../../src/core/job/job.ts";
import { dispatchWindowMs, settlementOf, settleOptions } from "../../../contract/store/fixture.ts";
import type { Tour, World } from "../tour.ts";
import { at, claim, job, put, set, turned } from "../jobs.ts";
import { withoutIndexes } from "../stage.ts";

/** Claims of rows with slots: free, taken, kept, left behind; seats that are free, held by the row itself, or by another. */
export const claimsOfSlots: Tour = { name: "claims-of-slots", parts: [together, oneWaits, oneRuns, ofMany] };

/** A job that stands here: its slots, how many seconds ago it was due, and what else its row says. */
interface Stand {
  readonly name: string;
  readonly keys: readonly string[];
  readonly due?: number;
  readonly row?: string;
  /** Started and put back before: attempt 1, generation 2. */
  readonly again?: boolean;
}

/** A slot: its key, its number, and what its row says; `$name` stands for the id of that job. */
type Place = readonly [key: string, n: number, row: string];

async function groups({ store }: World, kinds: Readonly<Record<string, number>>): Promise<void> {
  for (const [key, size] of Object.entries(kinds)) {
    const onRefusal = key.startsWith("hold") ? "hold" : key.startsWith("skip") ? "skip" : "queue-one";
    await store.installSlots([{ key, size, onRefusal, reason: key === "skipA" ? "slot" : "overlap" }]);
  }
}

const sizes = (keys: readonly string[], size: number): Record<string, number> =>
  Object.fromEntries(keys.map((key) => [key, size]));

/** In the order of their ids; other jobs run in the slots that another one has. */
async function stand(world: World, stands: readonly Stand[], places: readonly Place[]): Promise<readonly JobId[]> {
  const now = await world.store.now();
  const jobs = stands.map((one): Partial<NewJob> => ({ dueAt: isHeld(one) ? now + 2 * dispatchWindowMs : now }));
  const ids = await put(world, jobs);
  const again = ids.filter((_, n) => at(stands, n).again === true);
  await claim(world, again);
  await world.store.settle(
    again.map((jobId) => settlementOf({ jobId, attempt: 1 }, { to: "QUEUED", interruptions: 1 })),
    settleOptions,
  );
  const byName = new Map<string, JobId>();
  for (const [n, { name, keys, due = 1, row }] of stands.entries()) {
    const id = at(ids, n);
    byName.set(name, id);
    const columns = `slot_keys = '{${keys.join(",")}}', solo_required = false, due_at = belfry.now() - interval '${due} s'`;
    await job(world, [id], row === undefined ? columns : `${columns}, ${row}`);
  }
  const [foreign] = await claim(world, await put(world, [{}]));
  if (foreign === undefined) throw new Error("it is plain and due");
  byName.set("foreign", foreign.jobId);
  for (const [key, n, row] of places) {
    await set(world, "insert into belfry.slot (key, n) values ($1, $2) on conflict do nothing", [key, n]);
    const columns = row.replaceAll(/\$(\w+)/g, (_, name: string) => byName.get(name) ?? "null");
    await set(world, `update belfry.slot set ${columns} where key = $1 and n = $2`, [key, n]);
  }
  await turned(world, "job", "id");
  await turned(world, "slot", "key desc, n");
  return ids;
}

const taken = "job_id = $foreign, attempt = 1";
const held = (key: string): string => `hold = 'slot', held_on = '${key}'`;
const isHeld = ({ row }: Stand): boolean => row?.includes("held_on") === true;
const catchUp = "catch_up = true";
const expired = "expires_at = belfry.now()";

/** One claim of all: each group of slots is a scene of its own. */
async function together(world: World): Promise<void> {
  await withoutIndexes(world);
  await groups(world, {
    ...sizes(["hold5", "hold6", "skip1", "skip3", "one1", "one2", "one3", "one4", "one5", "one6", "one7", "one8"], 1),
    ...sizes(["hold1", "hold2", "hold7", "skip2"], 2),
    hold8: 3,
    hold4: 5,
  });
  const ids = await stand(world, [...holding, ...skipping, ...queueing], places);
  await claim(
    world,
    ids.filter((_, n) => !isHeld(at([...holding, ...skipping, ...queueing], n))),
  );
}

const holding: readonly Stand[] = [
  { name: "a1", keys: ["hold1"], due: 1 },
  { name: "a2", keys: ["hold1"], due: 3 },
  { name: "a3", keys: ["hold1"], due: 2 },
  { name: "a4", keys: ["hold1"], due: 2 },
  { name: "b1", keys: ["hold2"], due: 1 },
  { name: "b2", keys: ["hold2"], due: 3, again: true },
  { name: "b3", keys: ["hold2"], due: 2 },
  { name: "heldNext", keys: ["hold4"], due: 8, row: held("hold4") },
  { name: "d1", keys: ["hold4"], due: 10 },
  { name: "heldFirst", keys: ["hold4"], due: 10, row: held("hold4") },
  { name: "d5", keys: ["hold4"], due: 10 },
  { name: "heldSame", keys: ["hold4"], due: 10, row: held("hold4") },
  { name: "heldBlocked", keys: ["hold4"], due: 20, row: `${held("hold4")}, blocked = true` },
  { name: "d2", keys: ["hold4"], due: 15 },
  { name: "d3", keys: ["hold4"], due: 9 },
  { name: "d4", keys: ["hold4"], due: 10 },
  { name: "e1", keys: ["hold5"], due: 9, row: expired },
  { name: "e2", keys: ["hold5"], due: 1 },
  { name: "f1", keys: ["hold6"], row: expired },
  { name: "g1", keys: ["hold7"], due: 1 },
  { name: "g2", keys: ["hold7"], due: 2, again: true },
  { name: "h1", keys: ["hold8"], due: 2 },
  { name: "h2", keys: ["hold8"], due: 1, again: true },
  { name: "none", keys: ["no such group"] },
];

const skipping: readonly Stand[] = [
  { name: "s1", keys: ["skip1"], due: 2 },
  { name: "s2", keys: ["skip1"], due: 1, row: catchUp },
  { name: "s3", keys: ["skip2"], due: 2 },
  { name: "heldSkip", keys: ["skip2"], due: 9, row: held("skip2") },
  { name: "s4", keys: ["skip3"], due: 2 },
];

const queueing: readonly Stand[] = [
  { name: "q1", keys: ["one1"], due: 9, row: catchUp },
  { name: "q2", keys: ["one1"], due: 5 },
  { name: "q3", keys: ["one1"], due: 7 },
  { name: "q4", keys: ["one1"], due: 7 },
  { name: "r1", keys: ["one2"], due: 1 },
  { name: "r2", keys: ["one2"], due: 9 },
  { name: "t1", keys: ["one3"] },
  { name: "u1", keys: ["one4"] },
  { name: "u2", keys: ["one4"] },
  { name: "v1", keys: ["one5"] },
  { name: "w1", keys: ["one6"], row: expired },
  { name: "x1", keys: ["one7"], again: true },
  { name: "x2", keys: ["one7"] },
  { name: "y1", keys: ["one8"] },
];

const places: readonly Place[] = [
  ["hold2", 1, "job_id = $b1, attempt = 1, kept_for = 1"],
  ["hold6", 1, "job_id = $f1, attempt = 1, kept_for = 1"],
  ["hold7", 1, "job_id = $foreign, attempt = 1, free_from = belfry.now() - interval '1 s'"],
  ["hold7", 2, "job_id = $g1, attempt = 1, kept_for = 2"],
  ["hold8", 1, "job_id = $h2, attempt = 1, free_from = belfry.now() + interval '1 h'"],
  ["skip1", 1, taken],
  ["skip3", 1, taken],
  ["one1", 1, taken],
  ["one2", 0, "job_id = $r1"],
  ["one2", 1, taken],
  ["one3", 0, "job_id = $foreign"],
  ["one3", 1, taken],
  ["one3", 2, "job_id = null"],
  ["one4", 0, "job_id = $u1"],
  ["one4", 1, "job_id = $u1, attempt = 1, kept_for = 1"],
  ["one5", 0, "job_id = $v1"],
  ["one5", 1, "job_id = $v1, attempt = 1, kept_for = 1"],
  ["one6", 0, "job_id = $w1"],
  ["one6", 1, taken],
  ["one7", 1, taken],
  ["one8", 0, "job_id = $foreign"],
  ["one8", 1, "job_id = $y1, attempt = 1, kept_for = 1"],
];

/** The only one that is held takes the seat of the one that runs. */
async function oneWaits(world: World): Promise<void> {
  await withoutIndexes(world);
  await groups(world, { one: 1, other: 1 });
  const stands = [
    { name: "runs", keys: ["one"] },
    { name: "waits", keys: ["one"] },
  ];
  const ids = await stand(world, stands, [
    ["one", 0, "job_id = $runs"],
    ["one", 1, "job_id = $runs, attempt = 1, kept_for = 1"],
    ["other", 0, "job_id = $foreign"],
  ]);
  await claim(world, ids);
}

/** Rows that run beside the one that is kept a slot, in their first and second attempt. */
async function oneRuns(world: World): Promise<void> {
  await withoutIndexes(world);
  await groups(world, { one: 2, hold: 3 });
  const stands = [
    { name: "kept", keys: ["hold"], again: true },
    { name: "first", keys: ["hold"] },
    { name: "seated", keys: ["one"] },
  ];
  const ids = await stand(world, stands, [
    ["hold", 3, "job_id = $kept, attempt = 2, kept_for = 2"],
    ["hold", 2, "job_id = $first, attempt = 1, kept_for = 0"],
    ["one", 0, "job_id = $seated"],
  ]);
  await claim(world, ids);
  await world.store.wake({ slotKeys: ["hold", "one"], limit: 10 });
}

/** Rows with two slots, one claim each: all or nothing, whatever of them was kept, left or held as a seat. */
async function ofMany(world: World): Promise<void> {
  await withoutIndexes(world);
  const free = { hold1: 2, hold2: 2, hold3: 2, hold4: 2, one1: 1, one2: 1, one3: 1, one4: 1, one5: 1 };
  await groups(world, { ...free, holdFull: 1, holdFull2: 1, skipA: 1, skipB: 1, oneFull: 1, oneFull2: 1 });
  const stands = [
    { name: "twoReasons", keys: ["skipB", "skipA"] },
    { name: "skipFirst", keys: ["skipA", "holdFull"] },
    { name: "takes", keys: ["oneFull", "skipA"] },
    { name: "seated", keys: ["oneFull2", "skipB"] },
    { name: "seatedFree", keys: ["one3", "holdFull"] },
    { name: "kept", keys: ["hold1", "holdFull"] },
    { name: "keptSecond", keys: ["holdFull2", "holdFull", "hold2"] },
    { name: "both", keys: ["hold2", "hold3"] },
    { name: "keptOne", keys: ["hold4", "hold3"], again: true },
    { name: "runs", keys: ["one4", "one5"] },
  ];
  const full = ["holdFull", "holdFull2", "skipA", "skipB", "oneFull", "oneFull2"];
  const ids = await stand(world, stands, [
    ...full.map((key): Place => [key, 1, taken]),
    ["oneFull2", 0, "job_id = $seated"],
    ["one3", 0, "job_id = $seatedFree"],
    ["hold1", 1, "job_id = $kept, attempt = 1, kept_for = 1"],
    ["hold2", 2, "job_id = $keptSecond, attempt = 1, kept_for = 1"],
    ["hold4", 2, "job_id = $keptOne, attempt = 2, kept_for = 2"],
    ["hold3", 1, "job_id = $keptOne, attempt = 1, kept_for = 1"],
    ["one4", 0, "job_id = $runs"],
    ["one5", 0, "job_id = $runs"],
  ]);
  await claim(world, ids);
}

import { array, boolean, constant, constantFrom, integer, nat, tuple } from "fast-check";
import type { Arbitrary } from "fast-check";
import type { PlannedSchedule, ScheduleSpec } from "../../src/core/ports/schedule.ts";
import { aJob, dispatchWindowMs, minute } from "../contract/store/fixture.ts";
import { aSpec, occurrenceAt } from "../contract/store/schedule-fixture.ts";
import type { Pair, Twin } from "./pair.ts";
import { step } from "./step.ts";
import type { Step } from "./step.ts";

const limit = constantFrom(1, 2, 10);
/** Where rows of one instant have no promised order, a limit would choose between equals. */
const all = constant(1_000);
const lane = constantFrom(undefined, undefined, "mail");
const picks = array(nat(40), { minLength: 1, maxLength: 3 });
const twinsOf = (pair: Pair, chosen: readonly number[]): Twin[] => [
  ...new Set(chosen.flatMap((n) => pair.job(n) ?? [])),
];

const relay = tuple(limit, lane).map(([rows, one]) =>
  step(`relay ${rows} ${one}`, (pair) =>
    pair.both((store) => store.relay({ dispatchWindowMs, limit: rows, ...(one === undefined ? {} : { lane: one }) })),
  ),
);

const reopen = tuple(all, lane, constantFrom(0, 5_000)).map(([rows, one, olderThanMs]) =>
  step(`reopen ${rows} ${one} ${olderThanMs}`, (pair) =>
    pair.both((store) => store.reopen({ olderThanMs, limit: rows, ...(one === undefined ? {} : { lane: one }) })),
  ),
);

const requeue = tuple(all, constantFrom("queue-empty", "overtaken"), constantFrom("default", "mail")).map(
  ([rows, evidence, one]) =>
    step(`requeueLost ${evidence} ${one}`, (pair) =>
      pair.both((store) => store.requeueLost({ lane: one, evidence, olderThanMs: 10_000, limit: rows })),
    ),
);

const wake = tuple(all, constantFrom("all" as const, ["cap:a"], ["lock:b", "overlap:c"])).map(([rows, slotKeys]) =>
  step(`wake ${rows} ${String(slotKeys)}`, (pair) => pair.both((store) => store.wake({ slotKeys, limit: rows }))),
);

const confirm = tuple(nat(40), boolean()).map(([pick, partly]) =>
  step(`confirm ${pick}${partly ? " partly" : ""}`, async (pair) => {
    const twin = pair.outbox[pick % Math.max(1, pair.outbox.length)];
    if (twin === undefined) return;
    const failed = pair.jobs.find((job) => job.oracle === twin.oracle.messages[0]?.jobId);
    await pair.both(async (store, id, side) => {
      await store.confirm([{ id: twin[side].id, failed: partly && failed !== undefined ? [id(failed)] : [] }]);
    });
  }),
);

const rescue = tuple(all, lane).map(([rows, one]) =>
  step(`rescue ${rows} ${one}`, (pair) =>
    pair.both((store) =>
      store.rescue({ limit: rows, interruptionsMax: 3, ...(one === undefined ? {} : { lane: one }) }),
    ),
  ),
);

const control = tuple(constantFrom("cancel", "retry", "look", "freeSlots"), picks).map(([verb, chosen]) =>
  step(`${verb} ${chosen.join()}`, async (pair) => {
    const twins = twinsOf(pair, chosen);
    await pair.both(async (store, id): Promise<unknown> => {
      const ids = twins.map(id);
      if (verb === "cancel") return await store.cancel(ids);
      if (verb === "retry") return await store.retry(ids);
      if (verb === "look") return await store.peek(ids);
      const held = await Promise.all(
        ids.map(async (jobId) => ({ jobId, attempt: (await store.job(jobId))?.job.attempt ?? 0 })),
      );
      return await store.freeSlots(held);
    });
  }),
);

const advance = constantFrom(1_000, 6_000, 25_000, 60_000, 400_000).map((ms) =>
  step(`${ms} ms pass`, (pair) => pair.advance(ms)),
);

const resize = integer({ min: 1, max: 3 }).map((size) =>
  step(`cap:a has ${size}`, (pair) => pair.both((store) => store.installSlots(slotGroups(size)))),
);

/** The groups that jobs of the model may need. */
export const slotGroups = (size: number) =>
  [
    { key: "cap:a", size, onRefusal: "hold", reason: "slot" },
    { key: "lock:b", size: 1, onRefusal: "skip", reason: "lock-held" },
    { key: "overlap:c", size: 1, onRefusal: "queue-one", reason: "overlap" },
  ] as const;

const fence = tuple(integer({ min: 1, max: 4 }), boolean()).map(([token, installs]) =>
  step(`${installs ? "install" : "relay under"} token ${token}`, (pair) =>
    pair.both(async (store): Promise<unknown> => {
      const one = { name: "pass", token };
      return installs ? await store.installFence(one) : await store.relay({ dispatchWindowMs, limit: 1, fence: one });
    }),
  ),
);

const fallbackLock = tuple(
  constantFrom("acquire", "renew", "release"),
  constantFrom("a", "b"),
  integer({ min: 1, max: 6 }),
).map(([verb, owner, token]) =>
  step(`${verb} the lock row as ${owner} ${token}`, (pair) =>
    pair.both(async (store): Promise<unknown> => {
      if (verb === "acquire") return await store.acquire("pass", owner, 20_000);
      if (verb === "renew") return await store.renew("pass", owner, token, 20_000);
      return await store.release("pass", owner, token);
    }),
  ),
);

const install = constantFrom<Partial<ScheduleSpec>>({}, { overlap: "skip" }, { enabled: false }).map((over) =>
  step(`install the schedule ${JSON.stringify(over)}`, (pair) =>
    pair.both((store) => store.installSchedules([aSpec(over)])),
  ),
);

const plan = tuple(integer({ min: 1, max: 3 }), integer({ min: -3, max: 12 }), boolean(), boolean()).map(
  ([version, minutes, isCatchUp, skipped]) =>
    step(`plan version ${version}, ${minutes} minutes ahead`, async (pair) => {
      const now = await pair.oracle.now();
      const nominalAt = Math.ceil(now / minute) * minute + minutes * minute;
      const made = aJob({
        kind: "sweep",
        dueAt: nominalAt,
        payload: pair.mark(),
        slotKeys: isCatchUp ? ["cap:a"] : [],
      });
      const decided = { outcome: "SKIPPED", reason: "misfire", job: null } as const;
      const one = occurrenceAt(nominalAt, { isCatchUp, job: made, ...(skipped ? decided : {}) });
      const carry = isCatchUp ? { missed: 1, missedUntil: null, catchUpUntil: now } : null;
      const decidedUntil = Math.max(now, nominalAt);
      const planned: PlannedSchedule = {
        scheduleId: "every-minute",
        version,
        decidedUntil,
        nextAt: decidedUntil + minute,
        occurrences: [one],
        carry,
      };
      await pair.both((store) => store.plan([planned], { dispatchWindowMs }));
    }),
);

const due = constant(
  step("due schedules", (pair) => pair.both((store) => store.dueSchedules({ horizonMs: dispatchWindowMs, limit: 5 }))),
);

/** What a pass, an operator and time do. */
export const passSteps: readonly Arbitrary<Step>[] = [
  relay,
  reopen,
  requeue,
  wake,
  confirm,
  rescue,
  control,
  control,
  advance,
  advance,
  resize,
  fence,
  fallbackLock,
  install,
  plan,
  plan,
  due,
];

import { array, boolean, constant, constantFrom, integer, nat, tuple, type Arbitrary } from "fast-check";
import { attemptOf, batch, messagesOf, twinsOf } from "./job-commands.ts";
import { movedRows, passStep, step, type Step } from "./step.ts";

const limit = constantFrom(1, 2, 10);
/** Where rows of one instant have no promised order, a limit would choose between equals. */
const all = constant(1_000);
const lane = constantFrom(undefined, undefined, "mail");
const picks = array(nat(40), { minLength: 1, maxLength: 3 });

const relay = tuple(limit, lane).map(([rows, one]) =>
  passStep(`relay ${rows} ${one}`, (pair) =>
    pair.both((store) => store.relay({ limit: rows, ...(one === undefined ? {} : { lane: one }) })),
  ),
);

const reopen = tuple(all, lane, constantFrom(0, 5_000)).map(([rows, one, olderThanMs]) =>
  passStep(`reopen ${rows} ${one} ${olderThanMs}`, (pair) =>
    pair.both((store) =>
      store.reopen({ olderThanMs, limit: rows, messagesMax: 1_000, ...(one === undefined ? {} : { lane: one }) }),
    ),
  ),
);

const requeue = tuple(all, constantFrom("queue-empty", "overtaken"), constantFrom("default", "mail")).map(
  ([rows, evidence, one]) =>
    passStep(`requeueLost ${evidence} ${one}`, (pair) =>
      pair.both((store) => store.requeueLost({ lane: one, evidence, olderThanMs: 10_000, limit: rows })),
    ),
);

const wake = tuple(all, constantFrom("all" as const, ["cap:a"], ["cap:a#x", "cap:a"], ["lock:b", "overlap:c"])).map(
  ([rows, slotKeys]) =>
    passStep(`wake ${rows} ${String(slotKeys)}`, (pair) => pair.both((store) => store.wake({ slotKeys, limit: rows }))),
);

const replace = constant(
  passStep("replace", (pair) =>
    pair.both(async (store) => {
      const found = await store.replaced("all");
      for (const { jobs } of found) await store.cancel(jobs, { reason: "replaced", caller: "schedule e" });
      return found.map(({ schedule, at, jobs, runs }) => [schedule, at, jobs.length, runs.length]);
    }),
  ),
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

const keep = tuple(nat(40), boolean(), nat(2)).map(([pick, partly, resent]) =>
  step(`keep ${pick}${partly ? " partly" : ""}, resent ${resent}`, async (pair) => {
    const twin = pair.outbox[pick % Math.max(1, pair.outbox.length)];
    if (twin === undefined) return;
    const left = pair.jobs.find((job) => job.oracle === twin.oracle.messages[0]?.jobId);
    await pair.both(async (store, id, side) => {
      const unsent = partly && left !== undefined ? [id(left)] : [];
      return (await store.keep([{ id: twin[side].id, resent, unsent }])).size;
    });
  }),
);

const rescue = tuple(all, lane).map(([rows, one]) =>
  passStep(`rescue ${rows} ${one}`, (pair) =>
    pair.both(async (store) =>
      movedRows(await store.rescue({ limit: rows, interruptionsMax: 3, ...(one === undefined ? {} : { lane: one }) })),
    ),
  ),
);

const lapsed = tuple(boolean(), constantFrom("w", "x")).map(([ends, worker]) =>
  passStep(`lapsed leases${ends ? ` after ${worker} has died` : ""}, and their rescue`, (pair) =>
    pair.both(async (store) => {
      if (ends) await store.endLeases(worker, "it was killed");
      const leases = await store.lapsedLeases({ limit: 1_000 });
      const rescued = await store.rescue({ leases: leases.map(({ id }) => id), limit: 1_000, interruptionsMax: 3 });
      // Postgres also lists a lease whose jobs were all canceled: only a rescue ends it.
      return movedRows(rescued);
    }),
  ),
);

const takeOver = tuple(nat(40), constantFrom(0, 0, 1), boolean()).map(([chosen, off, extends_]) =>
  step(`${extends_ ? "extend" : "take over"} job ${chosen}`, async (pair) => {
    const twin = pair.job(chosen);
    if (twin === undefined) return;
    const attempt = (await attemptOf(pair, twin)) + off;
    await pair.both(async (store, id): Promise<unknown> => {
      const held = { jobId: id(twin), attempt };
      if (extends_) return await store.extendLease(held, { worker: "w", leaseMs: 50_000 });
      return await store.takeOver(held, { from: "w", worker: "x" });
    });
  }),
);

const prune = constant(
  passStep("prune", (pair) => pair.both(async (store) => (await store.prune({ limit: 1_000 })).jobs)),
);

const control = tuple(constantFrom("cancel", "retry", "look", "freeSlots"), picks).map(([verb, chosen]) =>
  step(`${verb} ${chosen.join()}`, async (pair) => {
    const twins = twinsOf(pair, chosen);
    await pair.both(async (store, id): Promise<unknown> => {
      const ids = twins.map(id);
      if (verb === "cancel") return movedRows(await store.cancel(ids));
      if (verb === "retry") return await store.retry(ids);
      if (verb === "look") return await store.peek(ids);
      const held = await Promise.all(
        ids.map(async (jobId) => ({ jobId, attempt: (await store.job(jobId))?.attempt ?? 0 })),
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

const name = constantFrom("c", "b");
const circuits = ["c", "b"].map((of) => ({
  name: of,
  pattern: "^(E)$",
  alike: false,
  share: 0.5,
  overMs: 60_000,
  minimum: 3,
  pauseMs: 20_000,
}));
const circuit = tuple(constantFrom("count", "count", "judge", "hold", "hold", "keep", "keep"), name, picks).map(
  ([verb, of, chosen]) =>
    passStep(`${verb} of circuit ${of} ${chosen.join()}`, async (pair) => {
      const messages = await messagesOf(pair, chosen, 0);
      const kinds = ["mail", "push"].map((kind) => ({ kind, circuit: of }));
      const ends = { name: of, code: chosen.length > 1 ? "E" : "", ends: chosen.length };
      await pair.both(async (store, _id, side): Promise<unknown> => {
        if (verb === "count") return await store.countForCircuits([ends], { worker: "w" });
        if (verb === "judge") return await store.judgeCircuits(circuits);
        if (verb === "hold") return await store.holdForCircuits(messages[side], kinds);
        return [await store.probeCircuits(circuits), await store.releaseForCircuits(), await store.openCircuits()];
      });
    }),
);

const budget = tuple(name, integer({ min: 1, max: 3 })).map(([of, n]) =>
  step(`${n} retries of ${of}`, (pair) =>
    pair.both(async (store) => {
      const spaced = await store.spaceRetries([{ name: of, n, share: 5 }]);
      // Postgres keeps microseconds.
      return spaced.map(({ endsMs, everyMs }) => [Math.round(endsMs / 100), Math.round(everyMs / 100)]);
    }),
  ),
);

const batched = tuple(picks, boolean()).map(([chosen, full]) =>
  passStep(full ? "start full batches" : `gather for ${chosen.join()}`, async (pair) => {
    const running = twinsOf(pair, chosen).filter(
      ({ oracle }) => pair.oracle.tables.jobs.get(Number(oracle))?.state === "RUNNING",
    );
    await pair.both(async (store, id): Promise<unknown> => {
      if (full) return await store.startFull(["mail", "push"].map((kind) => ({ kind, ...batch })));
      return await store.gather(running.map((twin) => ({ jobId: id(twin), max: batch.max, waitMs: batch.waitMs })));
    });
  }),
);

/** The groups that jobs of the model may need. */
export const slotGroups = (size: number) =>
  [
    { key: "cap:a", size, onRefusal: "hold", reason: "slot" },
    { key: "cap:a#", size: Math.ceil(size / 2), onRefusal: "hold", reason: "slot" },
    { key: "rate:f", size, windowMs: 25_000, onRefusal: "hold", reason: "slot" },
    { key: "lock:b", size: 1, onRefusal: "skip", reason: "lock-held" },
    { key: "overlap:c", size: 1, onRefusal: "queue-one", reason: "overlap" },
    { key: "overlap:d", size: 1, onRefusal: "hold", reason: "overlap" },
    { key: "overlap:e", size: 1, onRefusal: "hold", reason: "replaced" },
  ] as const;

const fence = tuple(integer({ min: 1, max: 4 }), boolean()).map(([token, installs]) =>
  step(`${installs ? "install" : "relay under"} token ${token}`, (pair) =>
    pair.both(async (store): Promise<unknown> => {
      const one = { name: "pass", token };
      return installs ? await store.installFence(one) : await store.relay({ limit: 1, fence: one });
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
      if (verb === "acquire") return await store.takeFallback("pass", owner, 20_000);
      if (verb === "renew") return await store.renewFallback("pass", owner, token, 20_000);
      return await store.releaseFallback("pass", owner, token);
    }),
  ),
);

/** What a pass, an operator and time do. */
export const passSteps: readonly Arbitrary<Step>[] = [
  relay,
  reopen,
  requeue,
  wake,
  replace,
  confirm,
  keep,
  rescue,
  lapsed,
  takeOver,
  prune,
  control,
  control,
  advance,
  advance,
  resize,
  fence,
  fallbackLock,
  circuit,
  circuit,
  circuit,
  budget,
  batched,
];

/** What moves jobs that exist. */
export const passMoves: readonly Arbitrary<Step>[] = [relay, lapsed, takeOver, control, control, control];

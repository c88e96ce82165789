import {
  array,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  option,
  record,
  tuple,
  type Arbitrary,
} from "fast-check";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import type { NewJob } from "../../src/machine/job.ts";
import type { Message } from "../../src/machine/outbox.ts";
import type { Settlement } from "../../src/machine/store.ts";
import { aJob, settlementOf } from "../contract/store/fixture.ts";
import type { Pair, Side, Twin } from "./pair.ts";
import { movedRows, step, type Step } from "./step.ts";

const pick = nat(40);
const picks = array(pick, { minLength: 1, maxLength: 4 });
const delay = constantFrom(0, 0, 0, 30_000, 400_000);
const kinds = constantFrom("mail", "push");
const lanes = constantFrom("default", "mail");
const slotKeys = constantFrom(
  [],
  [],
  ["cap:a"],
  ["lock:b"],
  ["cap:a", "lock:b"],
  ["overlap:c"],
  ["overlap:d"],
  ["overlap:e"],
  ["overlap:e"],
  ["cap:a#x", "cap:a"],
  ["cap:a#y", "cap:a", "overlap:c"],
  ["rate:f"],
  ["cap:a", "rate:f"],
);

export interface Draft {
  readonly kind: string;
  readonly key: string | null;
  readonly input: string;
  readonly lane: string;
  readonly delayMs: number;
  readonly slotKeys: readonly string[];
  readonly maxAttempts: number;
  readonly expires: boolean;
  readonly retentionMs: number;
}

export const draft: Arbitrary<Draft> = record({
  kind: kinds,
  key: constantFrom(null, null, "k1", "k2"),
  input: constantFrom("x", "x", "y"),
  lane: lanes,
  delayMs: delay,
  slotKeys,
  maxAttempts: integer({ min: 1, max: 3 }),
  expires: boolean(),
  retentionMs: constantFrom(60_000, contractLimits.retentionMsDefault),
});

/** A payload shows which rows are twins, so the same key and input have the same. */
const payloadOf = (pair: Pair, { kind, key, input }: Draft) =>
  key === null ? pair.mark() : { mark: `${kind} ${key} ${input}` };

export async function jobsOf(pair: Pair, drafts: readonly Draft[]): Promise<NewJob[]> {
  const now = await pair.oracle.now();
  return drafts.map((draft) => {
    const { input: _input, expires, ...rest } = draft;
    return aJob({ ...rest, payload: payloadOf(pair, draft), expiresAt: expires ? now + 500_000 : null });
  });
}

/** The batch that jobs of the model may wait in. */
export const batch = { key: "a", max: 3, waitMs: 5_000 } as const;
/** How a job may arrive: by itself, in a burst, or in a batch. */
const ways: readonly Partial<NewJob>[] = [
  {},
  {},
  { key: null, delayMs: 21_000, debounce: { key: "d", forMs: 21_000, maxMs: 64_000, keep: "last" } },
  { key: null, delayMs: batch.waitMs, batch },
];

const insert = array(tuple(draft, constantFrom(...ways)), { minLength: 1, maxLength: 4 }).map((given) => {
  // Postgres writes what is debounced after the others.
  const arriving = given.toSorted(([, a], [, b]) => Number("debounce" in a) - Number("debounce" in b));
  return step(`insert ${JSON.stringify(arriving)}`, async (pair) => {
    const plain = arriving.map(([one, way]) => ({ ...one, ...(way.key === null ? { key: null } : {}) }));
    const jobs = await jobsOf(pair, plain);
    await pair.both((store) => store.insert(jobs.map((job, at) => ({ ...job, ...arriving[at]?.[1] }))));
  });
});

const insertInTx = tuple(draft, boolean()).map(([one, commits]) =>
  step(`insert in a transaction that ${commits ? "commits" : "fails"} ${JSON.stringify(one)}`, async (pair) => {
    const jobs = await jobsOf(pair, [one]);
    await pair.both((store) =>
      store
        .transaction(async (tx) => {
          const inserted = await store.insert(jobs, { tx });
          if (!commits) throw new Error("rolled back");
          return inserted;
        })
        .catch((error: unknown) => String(error)),
    );
  }),
);

/** The message a job waits for, or one that is too old. */
export async function messagesOf(
  pair: Pair,
  chosen: readonly number[],
  age: number,
): Promise<Readonly<Record<Side, readonly Message[]>>> {
  const twins = twinsOf(pair, chosen);
  const generations = await Promise.all(
    twins.map(async (twin) => (await pair.oracle.job(twin.oracle))?.generation ?? 0),
  );
  const of = (side: Side): readonly Message[] =>
    twins.map((twin, n) => ({ jobId: twin[side], generation: Math.max(0, (generations[n] ?? 0) - age), trace: "t" }));
  return { oracle: of("oracle"), real: of("real") };
}

export const twinsOf = (pair: Pair, chosen: readonly number[]): Twin[] => [
  ...new Set(chosen.flatMap((n) => pair.job(n) ?? [])),
];

const age = constantFrom(0, 0, 0, 0, 1);

const claim = tuple(picks, age, boolean()).map(([chosen, old, alone]) =>
  step(`claim ${chosen.join()}${old ? " with old messages" : ""}${alone ? " alone" : ""}`, async (pair) => {
    const messages = await messagesOf(pair, chosen, old);
    await pair.both((store, _id, side) => store.claim(messages[side], { worker: "w", alone }));
  }),
);

const undelivered = tuple(picks, age).map(([chosen, old]) =>
  step(`undelivered ${chosen.join()}`, async (pair) => {
    const messages = await messagesOf(pair, chosen, old);
    await pair.both(async (store, _id, side) =>
      movedRows(await store.returnUndelivered(messages[side], { undeliveredMax: 3, backoffMs: 20_000 })),
    );
  }),
);

export const attemptOf = async (pair: Pair, twin: Twin): Promise<number> =>
  (await pair.oracle.job(twin.oracle))?.attempt ?? 0;

const beat = tuple(picks, constantFrom(0, 0, 1), option(constantFrom(0, 0.5, 1))).map(([chosen, off, progress]) =>
  step(`heartbeat ${chosen.join()}`, async (pair) => {
    const twins = twinsOf(pair, chosen);
    const attempts = await Promise.all(twins.map((twin) => attemptOf(pair, twin)));
    const extra = progress === null ? {} : { progress };
    await pair.both((store, id) =>
      store.heartbeat(
        twins.map((twin, n) => ({ jobId: id(twin), attempt: (attempts[n] ?? 0) + off, ...extra })),
        "w",
      ),
    );
  }),
);

const outcome: Arbitrary<Partial<Settlement>> = oneof(
  constant({ to: "SUCCESS", result: "which was chosen" } as const),
  constant({ to: "FAILED", failures: 1, errorCode: "E", errorMessage: "no", reason: "permanent" } as const),
  delay.map((delayMs) => ({ to: "RETRY_WAIT", failures: 1, errorCode: "E", errorMessage: "later", delayMs }) as const),
  constant({ to: "QUEUED", interruptions: 1, reason: "stopped" } as const),
);

const settle = tuple(picks, outcome, constantFrom(0, 0, 0, 1), array(draft, { maxLength: 2 }), boolean()).map(
  ([chosen, over, off, drafts, inTx]) =>
    step(`settle ${chosen.join()} ${JSON.stringify(over)}${inTx ? " in a transaction" : ""}`, async (pair) => {
      const twins = twinsOf(pair, inTx ? chosen.slice(0, 1) : chosen);
      const attempts = await Promise.all(twins.map((twin) => attemptOf(pair, twin)));
      const children = await Promise.all(twins.map(() => jobsOf(pair, drafts)));
      await pair.both((store, id) => {
        const settlements = twins.map((twin, n) =>
          settlementOf(
            { jobId: id(twin), attempt: (attempts[n] ?? 0) + off },
            { ...over, ...(over.result === undefined ? {} : { result: chosen[n] ?? 0 }), children: children[n] ?? [] },
          ),
        );
        const options = { worker: "w" };
        if (!inTx) return store.settle(settlements, options);
        return store.transaction((tx) => store.settle(settlements, { ...options, tx }));
      });
    }),
);

/** What happens to single jobs. */
export const jobSteps: readonly Arbitrary<Step>[] = [
  insert,
  insert,
  insertInTx,
  claim,
  claim,
  claim,
  beat,
  settle,
  settle,
  undelivered,
];

/** What moves jobs that exist. */
export const jobMoves: readonly Arbitrary<Step>[] = [claim, settle, settle, undelivered];

/** Jobs, of which some run. */
export const jobsUnderWay: readonly Arbitrary<Step>[] = [insert, insert, claim];

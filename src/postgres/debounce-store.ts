import { keptPayload, type Debounced, type JobId, type Json, type NewJob } from "../machine/job.ts";
import type { InsertResult } from "../machine/store.ts";
import type { Session } from "./session.ts";
import { lockBursts, readBursts, writeBursts } from "./sql/debounce.ts";

/** A job on its way in, with its place in the input. */
export interface Arriving {
  readonly ord: number;
  readonly job: NewJob;
}

/** The calls of one key, in the order of the input. */
interface Burst {
  readonly kind: string;
  readonly by: Debounced;
  readonly calls: readonly [Arriving, ...Arriving[]];
}

/**
 * Lets jobs join the bursts of their keys, in a transaction that the caller ends. Of those that begin one, `insert` writes the first call.
 * Three statements, as each has to see what committed while the one before it waited.
 */
export async function joinBursts(
  run: Session["run"],
  arriving: readonly Arriving[],
  results: (InsertResult | undefined)[],
  insert: (jobs: readonly Arriving[]) => Promise<void>,
): Promise<void> {
  const bursts = burstsOf(arriving);
  const keys = [bursts.map(({ kind }) => kind), bursts.map(({ by }) => by.key)];
  await run(lockBursts, keys);
  const open = new Map((await run(readBursts, keys)).map((row) => [Number(row.ord) - 1, row]));
  const wanted = bursts.map((burst, at) => payloadOf(burst, open.get(at)?.payload));
  const begun = bursts.flatMap(({ calls: [first] }, at) =>
    open.has(at) ? [] : { ord: first.ord, job: { ...first.job, payload: wanted[at] ?? null, debounce: undefined } },
  );
  if (begun.length > 0) await insert(begun);
  const ids = bursts.map(({ calls: [first] }, at) => (open.get(at)?.id ?? results[first.ord]?.id ?? "") as JobId);
  for (const [at, { calls }] of bursts.entries())
    for (const { ord } of calls) results[ord] ??= { id: ids[at] ?? ("" as JobId), created: false, isConflict: false };
  await run(writeBursts, [
    ids,
    ...keys,
    bursts.map(({ by }, at) => (open.has(at) && by.keep !== "first" ? JSON.stringify(wanted[at]) : null)),
    bursts.map(({ calls }, at) => calls.length - (open.has(at) ? 0 : 1)),
    bursts.map(({ by }) => by.forMs),
    bursts.map(({ by }) => by.maxMs),
    bursts.map((_, at) => !open.has(at)),
  ]);
}

const burstsOf = (arriving: readonly Arriving[]): readonly Burst[] =>
  [...Map.groupBy(arriving, ({ job }) => JSON.stringify([job.kind, job.debounce?.key])).values()].flatMap(
    ([first, ...others]) => {
      const by = first?.job.debounce;
      return first === undefined || by === undefined ? [] : { kind: first.job.kind, by, calls: [first, ...others] };
    },
  );

/** What its job has after these calls. `kept`: before them; left out: it begins. */
const payloadOf = ({ by, calls: [first, ...others] }: Burst, kept: Json | undefined): Json =>
  (kept === undefined ? others : [first, ...others]).reduce(
    (payload: Json, { job }) => keptPayload(by.keep, payload, job.payload),
    kept ?? first.job.payload,
  );

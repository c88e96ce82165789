import { insightLimits } from "../insight/insight-limits.ts";

export interface GatheredOptions<I> {
  /** Bytes of an item; a call has at most `insightLimits.gatheredBytesMax`, but at least one item. Default: 0. */
  readonly bytesOf?: (item: I) => number;
  /**
   * Whether an error may be caused by one item: then each is repeated alone. Only for errors after which nothing was done.
   * Default: never.
   */
  readonly isOfOne?: (error: unknown) => boolean;
}

interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (value: O) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Turns a function for many items into one for a single item: while a call is under way, new items wait and are batched into
 * the next call. Fifty items cost little more than one. `work` answers in the order of its items; when it throws, each item of
 * the call gets the error.
 */
export function coalesceCalls<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  options: GatheredOptions<I> = {},
): (item: I) => Promise<O> {
  const waiting: Waiting<I, O>[] = [];
  let isBusy = false;
  const drain = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    while (waiting.length > 0) await answer(work, waiting.splice(0, fitting(waiting, options)), options);
    isBusy = false;
  };
  return (item) =>
    new Promise<O>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      void drain();
    });
}

/** How many of those that wait go into the next call. */
function fitting<I, O>(waiting: readonly Waiting<I, O>[], { bytesOf }: GatheredOptions<I>): number {
  if (bytesOf === undefined) return insightLimits.gatheredRowsMax;
  let bytes = 0;
  const over = waiting.findIndex(({ item }) => (bytes += bytesOf(item)) > insightLimits.gatheredBytesMax);
  return over === -1 ? insightLimits.gatheredRowsMax : Math.min(Math.max(over, 1), insightLimits.gatheredRowsMax);
}

async function answer<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  some: readonly Waiting<I, O>[],
  options: GatheredOptions<I>,
): Promise<void> {
  try {
    const answers = await work(some.map(({ item }) => item));
    some.forEach(({ resolve }, index) => resolve(answers[index] as O));
  } catch (error) {
    if (some.length > 1 && options.isOfOne?.(error) === true) {
      for (const each of some) await answer(work, [each], options);
    } else for (const { reject } of some) reject(error);
  }
}

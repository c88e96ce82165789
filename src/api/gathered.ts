/**
 * Turns a function for many items into one for a single item: while one call is under way the next items wait and go
 * together in the next call. One at a time costs what it costs; fifty at a time cost little more than one.
 * `work` answers in the order of its items; when it throws, each item of that call gets the error.
 */
export function gathered<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  itemsMax = 500,
): (item: I) => Promise<O> {
  interface Waiting {
    readonly item: I;
    readonly resolve: (value: O) => void;
    readonly reject: (error: unknown) => void;
  }
  const waiting: Waiting[] = [];
  let isBusy = false;
  const drain = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    while (waiting.length > 0) {
      const some = waiting.splice(0, itemsMax);
      try {
        const answers = await work(some.map(({ item }) => item));
        some.forEach(({ resolve }, index) => resolve(answers[index] as O));
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    isBusy = false;
  };
  return (item) =>
    new Promise<O>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      void drain();
    });
}

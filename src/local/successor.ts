/** A process of new code that is ready beside the one that runs. Either `takeOver` or `end` is called, once. */
export interface Successor {
  isAlive(): boolean;
  /** The one that runs ends, after what it has begun. */
  takeOver(): void;
  end(): Promise<void>;
}

/** All of them, ready and alive. @throws what the first one failed with; the others are ended then. */
export async function allReady(starting: readonly Promise<Successor>[]): Promise<readonly Successor[]> {
  const settled = await Promise.allSettled(starting);
  const ready = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = settled.find((one) => one.status === "rejected");
  if (failed === undefined && ready.every((one) => one.isAlive())) return ready;
  await Promise.all(ready.map((one) => one.end()));
  throw failed?.reason ?? new Error("a process of the new code ended at once");
}

/** From the last started to the first; one that fails to stop does not keep the others. */
export async function stopInOrder(stops: (() => Promise<void> | void)[]): Promise<void> {
  const failures: unknown[] = [];
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
    try {
      await stop();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "not every part stopped cleanly");
}

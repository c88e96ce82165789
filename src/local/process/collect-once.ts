import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** When a start is over, and when it is on a busy machine. */
const afterMs = [10_000, 60_000];

/** Gives back what a start has left: V8 waits with that until the heap has grown, and an idle system's never does. It takes 50 ms. */
export function collectOnce(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as NodeJS.GCFunction;
  setFlagsFromString("--no-expose-gc");
  // The last resort also gives back the pages that the heap keeps for what comes: 4 to 10 MB of each process.
  const all = (): void => collect({ type: "major", execution: "sync", flavor: "last-resort" });
  for (const ms of afterMs) setTimeout(all, ms).unref();
}

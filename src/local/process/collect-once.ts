import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** When a start is over on a busy machine too. */
const afterMs = 10_000;

/** Gives back once what a start has left: V8 waits with that until the heap has grown, and an idle system's never does. */
export function collectOnce(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  setTimeout(collect, afterMs).unref();
}

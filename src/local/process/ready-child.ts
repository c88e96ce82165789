import type { ChildProcess } from "node:child_process";
import type { ChildOptions, Children } from "./children.ts";

const linesMax = 20;

/**
 * A process that has sent its first message; its lines are shown from then on.
 * @throws Error with its last lines when it ended before.
 */
export async function startReady(children: Children, what: string, options: ChildOptions): Promise<ChildProcess> {
  const early: Parameters<NonNullable<ChildOptions["onLine"]>>[] = [];
  let isReady = false;
  const child = children.start({
    ...options,
    ipc: true,
    onLine(...line) {
      if (isReady) return options.onLine?.(...line);
      early.push(line);
      if (early.length > linesMax) early.shift();
    },
  });
  const ready = Promise.withResolvers<void>();
  child.once("message", () => ready.resolve());
  child.once("error", (error) => ready.reject(error));
  child.once("close", (code, signal) =>
    ready.reject(
      new Error(`${what} ended with ${signal ?? `code ${code}`}:\n${early.map(([line]) => line).join("\n")}`),
    ),
  );
  await ready.promise;
  isReady = true;
  for (const line of early) options.onLine?.(...line);
  return child;
}

/** A part did not begin to serve in its time: this machine is too busy, or the part hangs. */
export class NotReady extends Error {
  override readonly name = "NotReady";
}

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

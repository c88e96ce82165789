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

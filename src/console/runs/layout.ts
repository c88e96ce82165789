import { words } from "../language/words.ts";
/** What the page asks of the layout, and what it gets. */
export interface ToLayOut {
  readonly nodes: readonly string[];
  readonly edges: readonly (readonly [from: string, to: string])[];
  /** Of every node, in pixels. */
  readonly width: number;
  readonly height: number;
}

/** Upper left corners. */
export interface LaidOut {
  readonly places: readonly { readonly id: string; readonly x: number; readonly y: number }[];
  /** The points each edge goes through, in the order of the edges asked for. */
  readonly lines: readonly (readonly { readonly x: number; readonly y: number }[])[];
  readonly width: number;
  readonly height: number;
}

/** Lays out in a worker that ends afterwards. Rejects when `signal` aborts or the worker fails. */
export async function layOut(asked: ToLayOut, signal: AbortSignal): Promise<LaidOut> {
  const worker = new Worker(document.body.dataset["layout"] ?? "", { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<LaidOut>();
  worker.addEventListener("message", (event: MessageEvent<LaidOut>) => resolve(event.data));
  worker.addEventListener("error", () => reject(new Error(words.tasks.notDrawn)));
  signal.addEventListener("abort", () => reject(signal.reason as Error));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no other origin to name
  worker.postMessage(asked);
  try {
    return await promise;
  } finally {
    worker.terminate();
  }
}

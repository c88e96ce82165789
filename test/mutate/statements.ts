/** A thread that imports the statements of the store with one file changed, and answers with their texts by name. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { type Edit, mutated } from "./mutant.ts";
import { mutatedFiles } from "./places.ts";

type Texts = Readonly<Record<string, string>>;

/** Null when the changed modules do not load. */
export async function statementTexts(change: (Edit & { readonly file: string }) | null): Promise<Texts | null> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { change } });
  try {
    return await new Promise((done, fail) => {
      worker.once("message", (texts: Texts) => done(texts));
      worker.once("error", () => done(null));
      worker.once("exit", () => fail(new Error("the thread ended without an answer")));
    });
  } finally {
    await worker.terminate();
  }
}

interface Given {
  readonly change: (Edit & { readonly file: string }) | null;
}

async function answer({ change }: Given): Promise<void> {
  if (change !== null) {
    const url = pathToFileURL(change.file).href;
    registerHooks({
      load(requested, context, next) {
        if (requested !== url) return next(requested, context);
        const source = mutated(readFileSync(change.file, "utf8"), change);
        return { format: "module-typescript", source, shortCircuit: true };
      },
    });
  }
  const texts: Record<string, string> = {};
  for (const file of mutatedFiles()) {
    const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    for (const value of Object.values(module)) {
      if (isStatement(value)) texts[value.name] = value.text;
    }
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  parentPort?.postMessage(texts);
}

const isStatement = (value: unknown): value is { name: string; text: string } =>
  typeof value === "object" && value !== null && "keptRowsMax" in value && "text" in value;

const given = workerData as Given | undefined;
if (given !== null && given !== undefined && parentPort !== null) await answer(given);

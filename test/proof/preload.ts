/**
 * Loaded before everything else in the processes of a proof (`NODE_OPTIONS=--import`). Wraps the store, so that each
 * process writes down what it was answered; and takes a guard out of the source when a run asks for that, so that a
 * case can show that it would notice. A patch whose text is not found ends the process: a guard that moved is news.
 */
import { registerHooks } from "node:module";
import { mutants, newer, record } from "./mutants.ts";
import { recorded } from "./recorder.ts";

export interface Patch {
  /** How the module's address ends. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

declare global {
  var belfryRecorded: typeof recorded;
}

globalThis.belfryRecorded = recorded;

const releases = process.env["BELFRY_PROOF_RELEASE"] === "next" ? newer : [];
const patches = [record, ...releases, ...(mutants[process.env["BELFRY_PROOF_WITHOUT"] ?? ""] ?? [])];

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const mine = patches.filter((patch) => url.endsWith(patch.file));
    if (mine.length === 0) return loaded;
    let source = textOf(loaded.source);
    for (const { file, from, to } of mine) {
      if (!source.includes(from)) throw new Error(`the text to patch in ${file} is gone: ${from}`);
      source = source.replaceAll(from, to);
    }
    return { ...loaded, source };
  },
});

/** Source text as the loader hands it over: a string, or its bytes. */
function textOf(source: unknown): string {
  if (typeof source === "string") return source;
  if (source instanceof Uint8Array) return new TextDecoder().decode(source);
  throw new TypeError("the loader gave no source text to patch");
}

import { isUtf8 } from "node:buffer";
import { type LoadFnOutput, registerHooks } from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

const belfry = fileURLToPath(new URL("../../", import.meta.url));
/** Of Belfry itself: an edit there needs a new start. */
const ownFolders = ["src", "functions", "scheduler-task", "infra"].map((name) => belfry + name + sep);

/** The project's own modules as one process has read them, by URL, and where each of its imports led. */
export interface LoadedModules {
  readonly modules: Record<string, { readonly format: string | null | undefined; readonly source: string }>;
  /** By `wayOf`. */
  readonly imports: Record<string, string>;
}

const files = new Set<string>();
const loaded: LoadedModules = { modules: {}, imports: {} };
let kept: LoadedModules | null = null;
let isRecording = false;

/**
 * Notes each file that is imported from the first call on, also in a sibling package of a workspace; none of installed packages.
 * @param compile Of the first call: what is run in the place of a file that was read. @returns a function that returns them.
 */
export function recordLoaded(compile = (read: LoadFnOutput): LoadFnOutput => read): () => readonly string[] {
  if (!isRecording) record(compile);
  isRecording = true;
  return () => [...files];
}

export const loadedModules = (): LoadedModules => loaded;

/**
 * From now on these modules are run under the addresses of its files, whatever these hold by then. A module that is
 * not among them is read from its file.
 */
export function replayModules(modules: LoadedModules): void {
  kept = modules;
  recordLoaded();
}

function record(compile: (read: LoadFnOutput) => LoadFnOutput): void {
  registerHooks({
    resolve(specifier, context, next) {
      const way = wayOf(specifier, context);
      const known = kept?.imports[way];
      const found = known === undefined ? next(specifier, context) : { url: known, shortCircuit: true };
      if (isOwn(found.url)) loaded.imports[way] = found.url;
      return found;
    },
    load(url, context, next) {
      if (!isOwn(url)) return next(url, context);
      files.add(fileURLToPath(url));
      const known = kept?.modules[url];
      const found = known === undefined ? compile(next(url, context)) : { ...known, shortCircuit: true };
      const source = textOf(found.source);
      if (source !== null) loaded.modules[url] = { format: found.format, source };
      return found;
    },
  });
}

const isOwn = (url: string): boolean => {
  if (!url.startsWith("file:")) return false;
  const file = fileURLToPath(url);
  return !file.includes(`${sep}node_modules${sep}`) && !ownFolders.some((own) => file.startsWith(own));
};

/** `require` and `import` of one name may lead to two files. */
const wayOf = (specifier: string, { parentURL = "", conditions }: ResolveContext): string =>
  `${conditions.includes("require") ? "require" : "import"} ${specifier} ${parentURL}`;

interface ResolveContext {
  readonly parentURL: string | undefined;
  readonly conditions: readonly string[];
}

/** Null for what is no text, as WebAssembly. */
function textOf(source: unknown): string | null {
  if (typeof source === "string") return source;
  if (!(source instanceof Uint8Array)) return null;
  const text = Buffer.from(source);
  return isUtf8(text) ? text.toString("utf8") : null;
}

/** What each entry promises, read from the published declarations by api-extractor. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import own from "../../package.json" with { type: "json" };

/** A declaration of api-extractor's doc model. */
export interface Member {
  readonly kind: string;
  readonly name: string;
  readonly docComment: string;
  readonly excerptTokens: readonly { readonly text: string }[];
  readonly members?: readonly Member[];
}

interface Model {
  readonly members: readonly { readonly members: readonly Member[] }[];
}

export interface Surface {
  /** `belfry`, `connect` and so on. */
  readonly entry: string;
  /** Of the names and types, for `api/ENTRY.api.md`. */
  readonly report: string;
  readonly members: readonly Member[];
  readonly exports: readonly string[];
  /** Types that an exported one uses but that users cannot name: neither this entry nor `belfry` exports them. */
  readonly unnamed: readonly string[];
}

export const entries: readonly (readonly [entry: string, file: string])[] = Object.entries(own.exports).map(
  ([path, file]) => [path === "." ? "belfry" : basename(path), file.replace(/\.ts$/, ".d.ts")],
);

/** @param folder of the package as it is laid out. */
export function surfaces(folder: string): readonly Surface[] {
  const out = mkdtempSync(join(tmpdir(), "belfry-surface-"));
  try {
    const configs = entries.map(([entry, file]) => ({ entry, config: configOf(folder, { entry, file, out }) }));
    const [main] = configs;
    if (main === undefined) throw new Error("package.json names no entry");
    // One program for all entries: most of their files are the same.
    const compilerState = CompilerState.create(main.config, {
      additionalEntryPoints: configs.map(({ config }) => config.mainEntryPointFilePath),
    });
    const all = configs.map(({ entry, config }) => surfaceOf(entry, config, compilerState));
    const named = new Set(all[0]?.exports);
    return all.map((each) => ({ ...each, unnamed: each.unnamed.filter((name) => !named.has(name)) }));
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function surfaceOf(entry: string, config: ExtractorConfig, compilerState: CompilerState): Surface {
  const unnamed: string[] = [];
  const { succeeded } = Extractor.invoke(config, {
    localBuild: true,
    compilerState,
    messageCallback(message) {
      message.handled = message.logLevel !== ExtractorLogLevel.Error;
      const [, name] = /^The symbol "([^"]+)" needs to be exported/.exec(message.text) ?? [];
      if (name !== undefined && !arithmetic.has(name)) unnamed.push(name);
    },
  });
  if (!succeeded) throw new Error(`the types of "${entry}" cannot be read`);
  const model = JSON.parse(readFileSync(config.apiJsonFilePath, "utf8")) as Model;
  const members = model.members[0]?.members ?? [];
  const report = readFileSync(config.reportFilePath, "utf8").replaceAll(/^ *\/\/ \(undocumented\)\n/gm, "");
  return { entry, report, members, exports: members.map(({ name }) => name), unnamed };
}

/** How a graph's types are computed: what users name are `TaskInputs`, `TaskOutputs` and `TaskHandle`. */
const arithmetic = new Set(["IsOne", "MaybeAfter", "MaybeOf", "NoneBefore", "OutputOf", "TaskBase"]);

function configOf(folder: string, { entry, file, out }: { entry: string; file: string; out: string }): ExtractorConfig {
  mkdirSync(join(out, entry), { recursive: true });
  return ExtractorConfig.prepare({
    packageJsonFullPath: join(folder, "package.json"),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: join(folder, file),
      newlineKind: "lf",
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            module: "nodenext",
            moduleResolution: "nodenext",
            target: "es2024",
            lib: ["es2024", "esnext.disposable", "dom"],
            strict: true,
            skipLibCheck: true,
            types: ["node"],
            typeRoots: [join(import.meta.dirname, "../../node_modules/@types")],
          },
          files: [join(folder, file)],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${entry}.api.md`,
        reportFolder: join(out, entry),
        reportTempFolder: join(out, entry, "temp"),
      },
      messages: {
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.Warning },
          "ae-undocumented": { logLevel: ExtractorLogLevel.None },
          "ae-missing-release-tag": { logLevel: ExtractorLogLevel.None },
        },
      },
      docModel: { enabled: true, apiJsonFilePath: join(out, entry, "model.json") },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
    },
  });
}

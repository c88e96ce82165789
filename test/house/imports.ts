import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { exports: Record<string, string> };

/** One import as a rule sees it: files by their path from the root, packages by name. */
export interface Import {
  readonly file: string;
  readonly line: number;
  /** `src/machine/job.ts`, `node:fs`, `pg` or `@aws-sdk/client-sqs`. */
  readonly target: string;
  readonly isPackage: boolean;
  /** Vanishes when the types are stripped. */
  readonly typeOnly: boolean;
}

const folders = "{src,functions,scheduler-task,infra,jobs,examples,test,bench,scripts}";

export const sourceFiles = (): readonly string[] =>
  [...globSync(`${folders}/**/*.{ts,tsx,mjs}`, { cwd: root }), ...globSync("*.ts", { cwd: root })]
    .filter((path) => !path.includes("node_modules"))
    .toSorted();

/** The numbered SQL of every part that has tables. */
export const migrationFiles = (): readonly string[] =>
  globSync(`${folders}/**/*.sql`, { cwd: root })
    .filter((path) => !path.includes("node_modules"))
    .toSorted();

/** What is written in English: source, tables, documents, settings. */
export const textFiles = (): readonly string[] =>
  [
    ...globSync(`${folders}/**/*.{ts,tsx,mjs,css,sql,sh,md,html}`, { cwd: root }),
    ...globSync(["docs/**/*.{md,yml}", "*.{md,ts,yaml}", "Dockerfile", "src/**/*.txt"], { cwd: root }),
  ]
    .filter((path) => !path.includes("node_modules"))
    .toSorted();

export const readSource = (file: string): string => readFileSync(root + file, "utf8");

const statement =
  /^[^\S\n]*(import|export)\s(type\s)?[^"'`;()]*?from\s*"([^"\n]+)"|^[^\S\n]*import\s+"([^"\n]+)"|import\(\s*"([^"\n]+)"\s*\)/gm;

/** All imports of one file's text, static and dynamic, re-exports too. */
export function importsOf(file: string, text: string): readonly Import[] {
  return [...withoutComments(text).matchAll(statement)].map((match) => {
    const specifier = match[3] ?? match[4] ?? match[5] ?? "";
    const line = text.slice(0, match.index).split("\n").length;
    return { file, line, typeOnly: match[2] !== undefined || namesOnlyTypes(match[0]), ...resolve(file, specifier) };
  });
}

/** Comments become blanks of the same length, so that lines stay where they are. Strings are stepped over. */
function withoutComments(text: string): string {
  return text.replace(/"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (found) =>
    found.startsWith("/") ? found.replace(/[^\n]/g, " ") : found,
  );
}

function namesOnlyTypes(text: string): boolean {
  const names =
    /\{([^}]*)\}/
      .exec(text)?.[1]
      ?.split(",")
      .map((name) => name.trim()) ?? [];
  const given = names.filter((name) => name !== "");
  return !/^import\s+\w/.test(text) && given.length > 0 && given.every((name) => name.startsWith("type "));
}

/** The project's own name stands for its public surface: `belfry/http` is what package.json exports as `./http`. */
function ownFile(specifier: string): string | undefined {
  const name = /^belfry(\/.*)?$/.exec(specifier);
  return name === null ? undefined : manifest.exports[`.${name[1] ?? ""}`]?.replace("./", "");
}

function resolve(file: string, specifier: string): Pick<Import, "target" | "isPackage"> {
  const own = ownFile(specifier);
  if (own !== undefined) return { target: own, isPackage: false };
  if (specifier.startsWith(".")) return { target: posix.join(posix.dirname(file), specifier), isPackage: false };
  const parts = specifier.split("/");
  const name = specifier.startsWith("node:") ? specifier : parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
  return { target: name, isPackage: true };
}

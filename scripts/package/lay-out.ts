/** Lays the packages out in a folder as they are published. The repository itself needs no build. */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleConsole } from "../../src/compose/bundle-console.ts";
import { scaffold } from "../../src/scaffold/scaffold.ts";
import { belfryManifest, createManifest, localManifest, type Manifest } from "./manifest.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Of the repository alone, and declarations that no file imports. */
const notPublished = [
  "src/compose/bundle-console.*",
  "infra/{stages,github,constructs/fakes}.*",
  "{functions,scheduler-task}/**/*.d.ts",
  "src/{api,cli,local}/**/*.d.ts",
];

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
  execFileSync(process.execPath, [tsc, "-p", project, "--outDir", folder], { stdio: ["ignore", "inherit", "inherit"] });
  for (const each of globSync(notPublished, { cwd: folder })) rmSync(join(folder, each));
  for (const file of globSync("**/*.js", { cwd: folder })) rewrite(join(folder, file));
  mkdirSync(join(folder, "console"));
  for (const [name, { bytes }] of await bundleConsole()) writeFileSync(join(folder, "console", name), bytes);
  for (const file of ["src/postgres/migrations", "src/postgres/schema.txt", "README.md", "CHANGELOG.md"]) {
    cpSync(join(root, file), join(folder, file), { recursive: true });
  }
  mkdirSync(join(folder, "bin"), { recursive: true });
  const bin = readFileSync(join(root, "bin/belfry.mjs"), "utf8").replace("../src/cli/main.ts", "../src/cli/main.js");
  writeFileSync(join(folder, "bin/belfry.mjs"), bin, { mode: 0o755 });
}

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
  const templates = scaffold({ name: "@@name@@", version: `^${version}`, localVersion: version });
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

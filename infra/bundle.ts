import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, extname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { openProject, type Project } from "../src/stage/project.ts";

/** Of Belfry itself: this repository, or the package in a project's `node_modules`. */
const packageRoot = fileURLToPath(new URL("../", import.meta.url));
/** Of Belfry's own modules: the package holds compiled ones. */
const extension = extname(import.meta.filename);

export interface BundleOptions {
  /** What the bundle runs; its stages are taken along as data. */
  readonly project: Project;
  /** Names of `apps` to take along. Default: all. */
  readonly apps?: readonly string[];
}

/**
 * One file with all code it needs, for Lambda and for the image alike. `entry` is an absolute path, or an entry of Belfry
 * such as `functions/worker`. Files that the code reads beside itself (migrations, pages) are copied next to it.
 * Some dependencies are CommonJS and call `require` or read `__dirname`, which an ES module does not have; the banner
 * provides them, under names that no bundled module imports itself.
 */
export async function bundle(entry: string, outfile: string, options: BundleOptions): Promise<void> {
  const { project } = options;
  await build({
    absWorkingDir: project.root,
    entryPoints: [isAbsolute(entry) ? entry : join(packageRoot, entry + extension)],
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    mainFields: ["module", "main"],
    minify: true,
    // An uncaught error is printed behind its source line: one of 200 KB pushes the message out of the log.
    lineLimit: 200,
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    external: ["pg-native", "cloudflare:sockets"],
    legalComments: "none",
    logLevel: "warning",
    plugins: [takeProject(options), keepPlaces(dirname(outfile), project.root)],
    banner: {
      js:
        'import { createRequire as belfryCreateRequire } from "node:module";' +
        "const require = belfryCreateRequire(import.meta.url);" +
        "const __dirname = import.meta.dirname; const __filename = import.meta.filename;",
    },
  });
}

/** The bundle knows its stages and holds its apps: no config is looked for where it runs. */
function takeProject({ project, apps = Object.keys(project.appFiles) }: BundleOptions): Plugin {
  const file = join(packageRoot, `src/stage/bundled-project${extension}`);
  const importing = (path: string): string => `() => import(${JSON.stringify(path)})`;
  const loaders = apps.map((name) => `${JSON.stringify(name)}: ${importing(project.appFiles[name] ?? name)}`);
  const { fakesFile } = project;
  const fakes = fakesFile === null || !apps.includes("examples") ? "null" : importing(fakesFile);
  const contents = `export const bundledProject = { stages: ${JSON.stringify(project.stages)}, apps: { ${loaders.join(", ")} }, fakes: ${fakes} };`;
  return {
    name: "take-project",
    setup(run) {
      run.onLoad({ filter: /bundled-project\.[jt]s$/ }, ({ path }) =>
        path === file ? { loader: "js", contents, resolveDir: project.root } : null,
      );
    },
  };
}

const besideItself = /new URL\((["'`])(\.{1,2}\/[^"'`]+)\1, import\.meta\.url\)/g;

/** In one file every module would have the same URL; each keeps its own, as if the file lay beside the bundle. */
function keepPlaces(outdir: string, projectRoot: string): Plugin {
  return {
    name: "keep-places",
    setup(run) {
      run.onLoad({ filter: /\.[cm]?[jt]s$/ }, ({ path }) => {
        if (!isOwn(path) && path.includes(`${sep}node_modules${sep}`)) return null;
        const source = readFileSync(path, "utf8");
        if (!source.includes("import.meta.url")) return null;
        for (const [, , file = ""] of source.matchAll(besideItself)) {
          copyBeside(join(dirname(path), file), { outdir, projectRoot });
        }
        const place = JSON.stringify(`./${placeOf(path, projectRoot).replaceAll(sep, "/")}`);
        return {
          loader: path.endsWith("ts") ? "ts" : "js",
          contents: source.replaceAll("import.meta.url", `new URL(${place}, import.meta.url).href`),
        };
      });
    },
  };
}

const isOwn = (path: string): boolean =>
  path.startsWith(packageRoot) && !relative(packageRoot, path).startsWith(`node_modules${sep}`);

/** Belfry's files keep their place; a project's lie in `app`, and what lies beside a project, as in a workspace, in `app/_up`. */
function placeOf(path: string, projectRoot: string): string {
  if (isOwn(path)) return relative(packageRoot, path);
  return join("app", relative(projectRoot, path).replaceAll(`..${sep}`, `_up${sep}`));
}

/** Code is in the bundle; of roots, of packages and of what is not there nothing is copied. */
function copyBeside(path: string, { outdir, projectRoot }: { outdir: string; projectRoot: string }): void {
  const isRoot = [packageRoot, projectRoot].some((root) => join(root, sep) === join(path, sep));
  const isPackages = !isOwn(path) && path.includes(`${sep}node_modules`);
  if (isRoot || isPackages || isCode(path) || !existsSync(path)) return;
  const to = join(outdir, placeOf(path, projectRoot));
  mkdirSync(dirname(to), { recursive: true });
  cpSync(path, to, { recursive: true, filter: (file) => !isCode(file) });
}

const isCode = (file: string): boolean => /\.[cm]?[jt]s$/.test(file);

/** `node infra/bundle.ts ENTRY OUTFILE`, for the Dockerfile. */
async function main([entry, outfile, ...rest]: readonly string[]): Promise<void> {
  if (entry === undefined || outfile === undefined || rest.length > 0) {
    process.stderr.write("usage: bundle ENTRY OUTFILE\n");
    process.exitCode = 2;
  } else await bundle(entry, outfile, { project: await openProject(join(packageRoot, "belfry.config.ts")) });
}

// Not awaited: a CommonJS program can only require what has no top-level await.
if (import.meta.main) void main(process.argv.slice(2));

import { cpSync, existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));

/**
 * One file with all code it needs, for Lambda and for the image alike: `node infra/bundle.ts ENTRY OUTFILE`.
 * Files that the code reads beside itself (migrations, pages) are copied next to it, at their place in the project.
 * Some dependencies are CommonJS and call `require` or read `__dirname`, which an ES module does not have; the banner
 * provides them, under names that no bundled module imports itself.
 */
export async function bundle(entry: string, outfile: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    mainFields: ["module", "main"],
    minify: true,
    // An error that nobody catches is printed behind its source line: one of 200 KB pushes the message out of the log.
    lineLimit: 200,
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    external: ["pg-native", "cloudflare:sockets"],
    legalComments: "none",
    logLevel: "warning",
    plugins: [keepPlaces(dirname(outfile))],
    banner: {
      js:
        'import { createRequire as belfryCreateRequire } from "node:module";' +
        "const require = belfryCreateRequire(import.meta.url);" +
        "const __dirname = import.meta.dirname; const __filename = import.meta.filename;",
    },
  });
}

/** In one file every module would have the same URL; each keeps its own, as if the file lay at the project's root. */
function keepPlaces(outdir: string): Plugin {
  return {
    name: "keep-places",
    setup(run) {
      run.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path.includes("/node_modules/")) return null;
        const source = readFileSync(path, "utf8");
        if (!source.includes("import.meta.url")) return null;
        for (const [, file = ""] of source.matchAll(/new URL\("(\.{1,2}\/[^"]+)", import\.meta\.url\)/g)) {
          copyBeside(join(dirname(path), file), outdir);
        }
        const place = JSON.stringify(`./${relative(root, path)}`);
        return {
          loader: "ts",
          contents: source.replaceAll("import.meta.url", `new URL(${place}, import.meta.url).href`),
        };
      });
    },
  };
}

/** Code is in the bundle; the project's root, its packages and what is not there are nobody's files. */
function copyBeside(path: string, outdir: string): void {
  const place = relative(root, path);
  if (place === "" || place.startsWith("..") || /\.ts$|^node_modules/.test(place) || !existsSync(path)) return;
  cpSync(path, join(outdir, place), { recursive: true, filter: (file) => !file.endsWith(".ts") });
}

if (import.meta.main) {
  const [entry, outfile, ...rest] = process.argv.slice(2);
  if (entry === undefined || outfile === undefined || rest.length > 0) {
    process.stderr.write("usage: node infra/bundle.ts ENTRY OUTFILE\n");
    process.exitCode = 2;
  } else await bundle(entry, outfile);
}

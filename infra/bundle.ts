import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));

/**
 * One file with everything it needs, for Lambda and for the image alike: `node infra/bundle.ts ENTRY OUTFILE`.
 * Some dependencies are CommonJS and call `require` or read `__dirname`, which an ES module does not have; the banner
 * provides them, under names that no bundled module imports itself.
 */
export function bundle(entry: string, outfile: string): void {
  buildSync({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    mainFields: ["module", "main"],
    minify: true,
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    external: ["pg-native", "cloudflare:sockets"],
    legalComments: "none",
    logLevel: "warning",
    banner: {
      js:
        'import { createRequire as belfryCreateRequire } from "node:module";' +
        "const require = belfryCreateRequire(import.meta.url);" +
        "const __dirname = import.meta.dirname; const __filename = import.meta.filename;",
    },
  });
}

if (import.meta.main) {
  const [entry, outfile, ...rest] = process.argv.slice(2);
  if (entry === undefined || outfile === undefined || rest.length > 0) {
    process.stderr.write("usage: node infra/bundle.ts ENTRY OUTFILE\n");
    process.exitCode = 2;
  } else bundle(entry, outfile);
}

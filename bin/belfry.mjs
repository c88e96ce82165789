#!/usr/bin/env node
// The one file that must run on any Node: the rest needs Node 24. Started by an older one (`npx` takes the machine's),
// it hands over to a Node 24 that the project, or this repository, has installed as a package.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [first, ...rest] = process.argv.slice(2);

// Asked in prompts and scripts: it loads nothing.
if (rest.length === 0 && ["--version", "-V", "version"].includes(first)) {
  console.log(
    JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), "..", "package.json"), "utf8")).version,
  );
} else if (Number(process.versions.node.split(".")[0]) >= 24) {
  // Compiled code is kept between starts: most of a short command's time is loading.
  const { enableCompileCache } = await import("node:module");
  enableCompileCache();
  leaveOutTypeless();
  const { main } = await import("../src/cli/main.ts");
  await main();
} else {
  const own = installedNode();
  if (own === undefined) {
    fail(
      `Belfry needs Node 24; this is ${process.version}. Install Node 24, or add it to your project: ` +
        `npm install --save-optional node-${process.platform}-${process.arch}@24`,
    );
  }
  const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal sends Ctrl-C to both; a signal sent to this process alone is passed on.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => fail(`the installed Node could not be started: ${error.message}`));
  child.once("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
}

/** A project of CommonJS may have its jobs in TypeScript: no command warns of it. */
function leaveOutTypeless() {
  const emit = process.emitWarning;
  process.emitWarning = (warning, options, ...more) => {
    if (options?.code !== "MODULE_TYPELESS_PACKAGE_JSON") emit.call(process, warning, options, ...more);
  };
}

/** Of the folder's project first, then as a package manager placed it beside Belfry. */
function installedNode() {
  const name = `node-${process.platform}-${process.arch}/package.json`;
  return [pathToFileURL(join(process.cwd(), "package.json")), import.meta.url]
    .map((from) => {
      try {
        return join(dirname(createRequire(from).resolve(name)), "bin", "node");
      } catch {
        return "";
      }
    })
    .find((file) => file !== "" && existsSync(file));
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}

/** An app whose own modules save it again, with a syntax error, at one moment of the reload that a save begins. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const core = new URL("../../src/compose/index.ts", import.meta.url).href;

/** What loads the code: the processes of a local system with two lanes. */
export const roles = ["setup", "scheduler", "api", "worker default", "worker mail"] as const;
export type Role = (typeof roles)[number];

export interface RacingApp {
  readonly url: URL;
  /** Saves code that answers `version`. */
  save(version: string, more?: { readonly badFrom?: Role | "setup's end"; readonly failsIn?: Role }): void;
  /** Saves what cannot be compiled. */
  saveBad(): void;
  /** The versions that living processes have loaded, by role. */
  running(): Readonly<Record<string, readonly string[]>>;
}

export const schedules = ["beat-default", "beat-mail"] as const;
const bad = "export default [\n";

export function racingApp(folder: string): RacingApp {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "about.json"), '{ "by": "racing" }');
  const file = join(folder, "app.ts");
  const loads = join(folder, "loads.txt");
  return {
    url: pathToFileURL(file),
    save: (version, more = {}) => writeFileSync(file, source(loads, version, more)),
    saveBad: () => writeFileSync(file, bad),
    running() {
      const lines = existsSync(loads) ? readFileSync(loads, "utf8").trim().split("\n") : [];
      const living = lines.map((line) => line.split("\t")).filter(([pid]) => isAlive(Number(pid)));
      const byRole = Map.groupBy(living, ([, role = ""]) => role);
      return Object.fromEntries(
        [...byRole].map(([role, all]) => [role, [...new Set(all.map(([, , version = ""]) => version))]]),
      );
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const source = (
  loads: string,
  version: string,
  { badFrom, failsIn }: Parameters<RacingApp["save"]>[1] = {},
): string => `
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { defineApp, defineJob, defineSchedule } from ${JSON.stringify(core)};
import manifest from "./about.json" with { type: "json" };

const program = basename(process.argv[1] ?? "");
const role = program.startsWith("setup") ? "setup"
  : program.startsWith("api-server") ? "api"
  : program.startsWith("sandbox-runner") ? "worker " + process.env.BELFRY_LANE
  : ["pass", "serve"].includes(process.argv[2] ?? "") ? "scheduler" : program;
appendFileSync(${JSON.stringify(loads)}, [process.pid, role, ${JSON.stringify(version)}].join("\\t") + "\\n");
if (role === ${JSON.stringify(failsIn ?? "")}) throw new Error("not in this process");
/** Once: a process that starts later runs this too. */
const saveBad = () => {
  if (readFileSync(import.meta.filename, "utf8").includes(${JSON.stringify(`"${version}"`)}))
    writeFileSync(import.meta.filename, ${JSON.stringify(bad)});
};
if (role === ${JSON.stringify(badFrom ?? "")}) saveBad();
if (role === "setup" && ${JSON.stringify(badFrom === "setup's end")}) process.on("exit", saveBad);

const beat = (lane: string) => defineJob({ id: "beat-" + lane, lane, run: async () => ({ said: ${JSON.stringify(version)}, by: manifest.by }) });
const schedules = ["default", "mail"].map((lane) =>
  defineSchedule({ id: "beat-" + lane, every: "1s", misfire: "all", run: beat(lane) }));
export default [defineApp({ name: "racing", schedules, lanes: { mail: { concurrency: 2 } } })];
`;

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fakes } from "../../examples/fakes.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { startLocal } from "../../src/local/system.ts";
import { demoTime } from "../demo/judges.ts";
import { type ExampleReport, type Report, reportText } from "../demo/report.ts";
import { bundleFakes } from "./fakes/bundle.ts";
import type { JudgeLine } from "./fakes/judge-line.ts";

/** Earlier than the demonstration begins: the targets come after the system. */
const startsAt = "22:30";
const lastCharactersMax = 2_000;

/**
 * A system on this machine whose targets and judge are the task of a deployment: the same bundle, command and environment.
 * @throws Error when a check does not hold.
 */
export async function judgeLocal(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await bundleFakes(join(folder, "app"));
  const { ports, environment } = await targets();
  const system = await startLocal({
    home: join(folder, "system"),
    stage: "demo",
    timeScale: demoTime.scale,
    environment: { PATH: process.env["PATH"], ...environment, BELFRY_TIME_START: startsAt },
    without: ["fakes", "watch"],
    onEvent: (event) => {
      if (event.is === "problem") console.error(event.from, event.what, event.error);
    },
  });
  try {
    const home = join(folder, "state");
    const own = { BELFRY_HOME: home, BELFRY_URL: system.urls.api ?? "", FAKE_PORTS: JSON.stringify(ports) };
    const later = { AWS_REGION: "us-east-1", TIME_CAPSULE_AFTER_MINUTES: "15" };
    tell(await judgedBy(join(folder, "app", "main.mjs"), { ...system.env, ...later, ...own }));
  } finally {
    await system.stop();
    if (system.postgres !== null) rmSync(system.postgres.dataFolder, { recursive: true, force: true });
  }
}

/** @throws Error when a check does not hold; all are shown either way. */
export function tell(report: Report): void {
  console.log(reportText(report));
  if (!report.pass) throw new Error("not all examples did what they promise");
}

/** What `infra/constructs/fakes.ts` gives to the task and to the processes with handlers. */
async function targets() {
  const ports: Record<string, number> = {};
  const environment: Record<string, string> = {};
  for (const { name, address } of fakes) {
    if (address === undefined) continue;
    ports[name] = await freePort();
    environment[address.variable] = `${address.scheme}://127.0.0.1:${ports[name]}`;
  }
  return { ports, environment };
}

async function judgedBy(file: string, env: Readonly<Record<string, string>>): Promise<Report> {
  const child = spawn(process.execPath, [file, "judge"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  // Its targets write there too: only the end of it says why it ended.
  let last = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (last = (last + text).slice(-lastCharactersMax)));
  const examples: ExampleReport[] = [];
  try {
    for await (const text of createInterface({ input: child.stdout })) {
      const line = JSON.parse(text) as JudgeLine;
      if ("progress" in line) console.log(line.progress);
      else if ("example" in line) examples.push(line.example);
      else if ("failure" in line) throw new Error(line.failure);
      else return { ...line.judged, examples };
    }
    throw new Error(`the task ended before it had judged:\n${last}`);
  } finally {
    child.kill("SIGTERM");
    const [code] = (await ended) as [number | null];
    console.log(`the task of the fakes ended with ${code}`);
  }
}

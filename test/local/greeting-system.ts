import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { openConnections } from "../../src/adapters/postgres/connect.ts";
import { createPostgresStore } from "../../src/adapters/postgres/store.ts";
import type { JobView } from "../../src/core/job/job.ts";
import type { Store } from "../../src/core/ports/ports.ts";
import { type LocalEvent, type LocalSystem, startLocal } from "../../src/local/system.ts";
import { freshFolder } from "./folder.ts";
import { writeGreetingApp } from "./greeting-app.ts";
import { until } from "./until.ts";

/** A bound for what hangs: at load 17 on two cores a start took 44 s. */
export const slowMs = 120_000;
/** No part may come from the environment in which the tests run. */
export const environment = { PATH: process.env["PATH"], TZ: process.env["TZ"] };

export function newApp(text: string): { home: string; app: URL; edit: (text: string) => void } {
  const folder = freshFolder();
  const code = join(folder, "app");
  mkdirSync(code);
  const app = writeGreetingApp(code, text);
  return { home: folder, app, edit: (next) => void writeGreetingApp(code, next) };
}

export function storeOf(url: string): Store {
  const connections = openConnections({ url, applicationName: "test" });
  onTestFinished(() => connections.close());
  return createPostgresStore(connections);
}

export async function begin(
  home: string,
  app: URL,
  more: Record<string, string> = {},
  onEvent: (event: LocalEvent) => void = () => {},
): Promise<LocalSystem> {
  const settings = { environment: { ...environment, ...more }, postgresSettings: { fsync: "off" } };
  const system = await startLocal({ home, apps: [app], ...settings, onEvent });
  onTestFinished(() => system.stop());
  return system;
}

export const finished = async (store: Store): Promise<JobView | null> =>
  (await store.jobs({ states: ["SUCCESS"], limit: 1 }))[0] ?? null;

export interface Started extends Begun {
  readonly database: string;
  readonly api: string;
}

export interface Begun {
  readonly process: ChildProcess;
  readonly lines: Record<string, unknown>[];
  /** What it wrote to stderr. */
  readonly errors: string[];
}

/** As `npm start` does, in a process of its own that can be killed. */
export async function startProcess(home: string, app: URL, ...args: readonly string[]): Promise<Started> {
  const begun = beginProcess(home, app, ...args);
  const started = await until(
    "the start",
    () => {
      if (begun.process.exitCode !== null) throw new Error(begun.errors.join("\n"));
      return begun.lines.find((line) => line["is"] === "started");
    },
    slowMs,
  );
  const { database, api } = started["urls"] as { database: string; api: string };
  return { ...begun, api, database: database.replace("***", passwordOf(home)) };
}

/** The same, without waiting for it. */
export function beginProcess(home: string, app: URL, ...args: readonly string[]): Begun {
  const main = fileURLToPath(new URL("../../src/local/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, "start", "--json", ...args], {
    env: { ...environment, BELFRY_HOME: home, BELFRY_APPS: app.href },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGINT");
    await once(child, "exit");
  });
  const lines: Record<string, unknown>[] = [];
  createInterface({ input: child.stdout }).on("line", (line) =>
    lines.push(JSON.parse(line) as Record<string, unknown>),
  );
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => errors.push(line));
  return { process: child, lines, errors };
}

/** What is printed hides it. */
const passwordOf = (home: string): string =>
  (JSON.parse(readFileSync(join(home, "postgres", "postgres.json"), "utf8")) as { password: string }).password;

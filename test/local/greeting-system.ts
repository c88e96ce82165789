import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openConnections } from "../../src/postgres/connect.ts";
import { type TestStore, testStore } from "../support/looks.ts";
import type { JobView } from "../../src/machine/job.ts";
import { type LocalEvent, type LocalSystem, startLocal } from "../../src/local/system.ts";
import { type LocalStart, ownStart, withPassword } from "../support/local-start.ts";
import { freshFolder } from "./folder.ts";
import { writeGreetingApp } from "./greeting-app.ts";
import { bareEnvironment } from "../support/bare-environment.ts";

/** A bound for what hangs: at load 17 on two cores a start took 44 s. */
export const slowMs = 120_000;
/** No part may come from the environment in which the tests run. */
export const environment = { ...bareEnvironment, TZ: process.env["TZ"] };

export function newApp(text: string): { home: string; app: URL; edit: (text: string) => void } {
  const folder = freshFolder();
  const code = join(folder, "app");
  mkdirSync(code);
  const app = writeGreetingApp(code, text);
  return { home: folder, app, edit: (next) => void writeGreetingApp(code, next) };
}

export function storeOf(url: string): TestStore {
  const connections = openConnections({ url, applicationName: "test" });
  onTestFinished(() => connections.close());
  return testStore(connections);
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

/** A system of this app whose time is compressed, and its store. */
export async function beginCompressed(app: URL, timeScale: number, onEvent: (event: LocalEvent) => void = () => {}) {
  const system = await startLocal({
    home: freshFolder(),
    apps: [app],
    environment,
    postgresSettings: { fsync: "off" },
    timeScale,
    without: ["watch", "fakes", "api"],
    onEvent,
  });
  onTestFinished(() => system.stop());
  return { system, store: storeOf(system.urls.database) };
}

export const finished = async (store: TestStore): Promise<JobView | null> =>
  (await store.jobs({ states: ["SUCCESS"] }))[0] ?? null;

export interface Started extends LocalStart {
  readonly database: string;
  readonly api: string;
}

/** As `npm start` does, in a process of its own that can be killed. */
export async function startProcess(home: string, app: URL, ...args: readonly string[]): Promise<Started> {
  const begun = beginProcess(home, app, ...args);
  const { database, api } = await begun.urls(slowMs);
  return { ...begun, api, database: withPassword(database, home) };
}

/** The same, without waiting for it. */
export function beginProcess(home: string, app: URL, ...args: readonly string[]): LocalStart {
  const begun = ownStart({ ...environment, BELFRY_HOME: home, BELFRY_APPS: app.href }, ...args);
  onTestFinished(async () => void (await begun.stop()));
  return begun;
}

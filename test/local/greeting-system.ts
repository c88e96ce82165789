import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openConnections } from "../../src/adapters/postgres/connect.ts";
import { createPostgresStore } from "../../src/adapters/postgres/store.ts";
import type { JobView } from "../../src/core/job/job.ts";
import type { Store } from "../../src/core/ports/ports.ts";
import { type LocalEvent, type LocalSystem, startLocal } from "../../src/local/system.ts";
import { freshFolder } from "./folder.ts";
import { writeGreetingApp } from "./greeting-app.ts";

export const slowMs = 60_000;
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

import { mkdtempSync, mkdirSync, rmSync, chmodSync } from "node:fs";
import { bareEnvironment } from "../support/bare-environment.ts";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { removePostgres } from "../../src/local/services/postgres-files.ts";
import { type LocalSystem, startLocal } from "../../src/local/system.ts";
import { until } from "../local/until.ts";
import { openBrowser, openPage, type TestBrowser } from "./browser.ts";
import { writeOperatorApp } from "./operator-app.ts";

export interface OperatorWorld {
  readonly pool: pg.Pool;
  /** Of the API of the system. */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  /** A job that has ended FAILED, or whatever state it should reach. */
  job(body: object, state: string): Promise<string>;
  readonly system: LocalSystem;
  /** The file of its app. A save is looked at where the world watches. */
  readonly app: string;
  /** An operator who looks at the overview. */
  sits(): Promise<Operator>;
}

/** A person at the page. Only clicks count: keys and what is typed do not. */
export interface Operator {
  readonly page: Page;
  clicks(): number;
  click(what: Locator): Promise<void>;
  link(name: string | RegExp): Promise<void>;
  button(name: string | RegExp): Promise<void>;
  leave(): Promise<void>;
}

export const clicksMax = 4;
const startMs = 120_000;

/** The whole system on this machine, with the real page in a real Chromium. Skipped, and said so, where no browser runs. */
export async function describeOperator(
  name: string,
  tests: (its: OperatorWorld) => void,
  { watches = false }: { readonly watches?: boolean } = {},
): Promise<void> {
  const opened = await openBrowser();
  if (typeof opened === "string") console.warn(`skipped, no browser runs here: ${opened}`);
  describe.skipIf(typeof opened === "string")(`on the whole system: ${name}`, () => {
    const { browser, close } = opened as TestBrowser;
    const folder = mkdtempSync(join(tmpdir(), "belfry-operator-"));
    let system: LocalSystem;
    let pool: pg.Pool;
    beforeAll(async () => {
      chmodSync(folder, 0o755);
      mkdirSync(join(folder, "app"));
      const environment = { ...bareEnvironment, TZ: process.env["TZ"] };
      const settings = {
        environment,
        postgresSettings: { fsync: "off" },
        without: watches ? [] : (["watch"] as const),
      };
      system = await startLocal({
        home: join(folder, "home"),
        apps: [writeOperatorApp(join(folder, "app"))],
        ...settings,
      });
      pool = new pg.Pool({ connectionString: system.urls.database, max: 2 });
    }, startMs);
    afterAll(async () => {
      await close();
      await pool.end();
      await system.stop();
      removePostgres(join(folder, "home"));
      rmSync(folder, { recursive: true, force: true });
    }, startMs);
    const url = (): string => system.urls.api ?? "";
    const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
      const write =
        body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      const answer = await fetch(`${url()}${path}`, { method, ...write });
      if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
      return (await answer.json()) as T;
    };
    tests({
      get pool() {
        return pool;
      },
      get system() {
        return system;
      },
      app: join(folder, "app", "app.ts"),
      call,
      async job(body, state) {
        const { id } = await call<{ id: string }>("POST", "/jobs", body);
        await until(
          `job ${id} is ${state}`,
          async () => (await call<{ state: string }>("GET", `/jobs/${id}`)).state === state,
        );
        return id;
      },
      sits: () => sit(browser, url()),
    });
  });
}

async function sit(browser: TestBrowser["browser"], url: string): Promise<Operator> {
  const { page, problems, close } = await openPage(browser, url);
  await page.goto(`${url}/console/`);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  let clicks = 0;
  const click = async (what: Locator): Promise<void> => {
    clicks += 1;
    await what.click();
  };
  return {
    page,
    clicks: () => clicks,
    click,
    link: (name) => click(page.getByRole("link", { name, exact: typeof name === "string" }).first()),
    button: (name) => click(page.getByRole("button", { name, exact: typeof name === "string" }).first()),
    async leave() {
      expect(problems).toEqual([]);
      await close();
    },
  };
}

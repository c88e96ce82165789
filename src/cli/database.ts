import { openConnections } from "../postgres/connect.ts";
import { assertSchema, assertServer, schemaVersion, schemaVersionOfCode } from "../postgres/schema-version.ts";
import { readEpoch } from "../postgres/sql/epoch.ts";
import { execute } from "../postgres/statement.ts";
import { createPostgresStore } from "../postgres/store.ts";
import { type AppDefinition, registry } from "../define/definition.ts";
import { everySchedule, specsOf } from "../schedule/install-schedules.ts";
import type { Tx } from "../machine/transaction.ts";
import { scheduleDifferences } from "../schedule/schedule-difference.ts";
import { messageOf } from "./exit.ts";
import type { Finding } from "./preflight.ts";

interface Databases {
  /** By `DATABASE_URL`. */
  readonly named: string | undefined;
  /** Of the system that runs here. */
  readonly local: string | undefined;
}

/** What `doctor` says about the database that is named, else about that of the local system. */
export async function databaseFindings({ named, local }: Databases): Promise<readonly Finding[]> {
  const url = named || local;
  if (!url) return [];
  try {
    const connections = openConnections({ url, applicationName: "belfry doctor" });
    try {
      const migrates = named ? "npx belfry migrate" : "stop it, and npm start";
      return await examine(
        connections.main,
        named ? connections.where : `${connections.where}, of the local system`,
        migrates,
      );
    } finally {
      await connections.close();
    }
  } catch (error) {
    const fix = named
      ? "correct DATABASE_URL, or unset it: npm start then brings its own Postgres"
      : "stop the system, and npm start: it brings its own Postgres";
    return [{ name: "database", ok: false, detail: messageOf(error), fix }];
  }
}

async function examine(tx: Tx, where: string, migrates: string): Promise<readonly Finding[]> {
  const version = await schemaVersion(tx);
  const reachable: Finding = { name: "database", ok: true, detail: where };
  return [
    reachable,
    await finding("server", "version and settings are fit", "see the message", () =>
      assertServer(tx, { allowLosingCommits: false }),
    ),
    await finding("schema", `version ${version}`, `bring it to this release: ${migrates}`, () => assertSchema(tx)),
    ...(version < schemaVersionOfCode ? [] : [await epochFinding(tx)]),
  ];
}

/** A restored or moved database that no process has noticed yet. */
async function epochFinding(tx: Tx): Promise<Finding> {
  const name = "epoch";
  const [epoch] = await execute(tx, readEpoch);
  if (epoch?.is_here === true) {
    return { name, ok: true, detail: `${epoch.number}, since ${new Date(epoch.began_at).toISOString()}` };
  }
  const detail = "the database was restored or moved since; readers of its events have no gap notice yet";
  return { name, ok: false, detail, fix: "npx belfry migrate" };
}

async function finding(name: string, detail: string, fix: string, check: () => Promise<void>): Promise<Finding> {
  try {
    await check();
    return { name, ok: true, detail };
  } catch (error) {
    return { name, ok: false, detail: messageOf(error), fix };
  }
}

/** How the schedules stored in this database differ from those in code, a sentence each; says so when it does not answer. */
export async function storedDifferences(
  url: string,
  apps: readonly AppDefinition[],
  stage: string,
): Promise<readonly string[]> {
  try {
    const connections = openConnections({ url, applicationName: "belfry check" });
    try {
      const rows = await everySchedule(createPostgresStore(connections));
      return scheduleDifferences(specsOf(registry(apps), stage), rows, apps).map(({ message }) => message);
    } finally {
      await connections.close();
    }
  } catch (error) {
    return [`the database of DATABASE_URL was not compared: ${messageOf(error)}`];
  }
}

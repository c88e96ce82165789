/** Several whole systems on this machine, and one front before them. */
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import type { Server } from "node:http";
import { systemRandom } from "../adapters/clock.ts";
import { createLog } from "../adapters/telemetry/log.ts";
import { loadApps } from "../apps.ts";
import { createFront } from "../cells/front.ts";
import { cellsNow, initCells } from "../cells/move.ts";
import { type CellPlaces, openCells, withoutDatabases } from "../cells/open.ts";
import { consoleFiles } from "../console-files.ts";
import { registry } from "../core/define/definition.ts";
import { openProject, stageNamed } from "../project.ts";
import { listenOnLoopback } from "./services/server.ts";
import { type LocalEvent, type LocalSystem, startLocal } from "./system.ts";

export interface LocalCells {
  /** Of the front, with the console. */
  readonly url: string;
  readonly systems: ReadonlyMap<string, LocalSystem>;
  stop(): Promise<void>;
  /** Ends every process at once. */
  kill(): Promise<void>;
}

export interface CellsOptions {
  /** The state folder; each cell has one of its own below it. */
  readonly home: string;
  readonly project: string;
  readonly stage: string;
  readonly count: number;
  /** Of the front. 0 is any. */
  readonly port: number;
  readonly onEvent?: (event: LocalEvent) => void;
}

/** Names: a, b, c, ... */
const nameOf = (number: number): string => String.fromCodePoint(97 + number);

/** @throws as `startLocal`; nothing is left running then. */
export async function startCells(options: CellsOptions): Promise<LocalCells> {
  const systems = new Map<string, LocalSystem>();
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.toReversed()) await each();
    await Promise.all([...systems.values()].map((system) => system.stop()));
  };
  try {
    for (let number = 0; number < options.count; number += 1) {
      systems.set(nameOf(number), await startCell(options, number));
    }
    const url = await beginFront(options, systems, stops);
    return {
      url,
      systems,
      stop,
      async kill() {
        await Promise.all([...systems.values()].map((system) => system.kill()));
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const startCell = ({ home, project, stage, onEvent }: CellsOptions, number: number): Promise<LocalSystem> =>
  startLocal({
    home: join(home, `cell-${nameOf(number)}`),
    project,
    stage,
    environment: { ...process.env, BELFRY_CELL: String(number) },
    ...(onEvent === undefined ? {} : { onEvent }),
  });

async function beginFront(
  options: CellsOptions,
  systems: ReadonlyMap<string, LocalSystem>,
  stops: (() => Promise<void>)[],
): Promise<string> {
  const places: CellPlaces = Object.fromEntries(
    [...systems].map(([name, { urls }], number) => [
      name,
      { number, stage: options.stage, api: urls.api ?? "", databaseUrl: urls.database },
    ]),
  );
  const opened = openCells(places);
  stops.push(() => opened.close());
  const standing = await cellsNow(opened.stores);
  if (standing.every(({ version }) => version === null)) await initCells(opened.stores, withoutDatabases(places));
  const project = await openProject(options.project);
  let files: ReturnType<typeof consoleFiles> | null = null;
  const front = createFront({
    cells: new Map(
      [...opened.stores].map(([name, store]) => [name, { api: systems.get(name)?.urls.api ?? "", store }]),
    ),
    registry: registry(await loadApps(project, stageNamed(project, options.stage))),
    random: systemRandom,
    log: createLog({ service: "front", level: "warn", fields: { stage: options.stage } }),
    console: () => (files ??= consoleFiles()),
  });
  const server = createAdaptorServer({ fetch: front.fetch }) as Server;
  const port = await listenOnLoopback(server, options.port, "the front");
  stops.push(async () => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${port}`;
}

import { createAdaptorServer } from "@hono/node-server";
import { createServer, type Server } from "node:http";
import { onTestFinished } from "vitest";
import { systemRandom } from "../../src/adapters/clock.ts";
import { createCellStore } from "../../src/adapters/postgres/cell-store.ts";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { createSession } from "../../src/adapters/postgres/session.ts";
import { createFront } from "../../src/cells/front.ts";
import { initCells } from "../../src/cells/move.ts";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { openApi } from "../api/harness.ts";

const names = ["a", "b"] as const;

async function served(server: Server): Promise<string> {
  const port = await listenOnLoopback(server, 0, "a cell");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${port}`;
}

/** Takes every request and never answers. */
export const hanging = (): Promise<string> => served(createServer(() => {}));

/** Takes every request and hangs up: whether it did what was asked is not known. */
export const breaking = (): Promise<string> => served(createServer(({ socket }) => void socket.destroy()));

/** Answers every request with this status. */
export const failing = (status: number): Promise<string> =>
  served(createServer((_, response) => void response.writeHead(status).end("{}")));

/** An address where nothing listens any more. */
export async function gone(): Promise<string> {
  const server = createServer();
  const port = await listenOnLoopback(server, 0, "a cell");
  await new Promise((done) => server.close(done));
  return `http://127.0.0.1:${port}`;
}

export interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The APIs of two cells, each on a database of its own, and a front before them. */
export async function openCells() {
  const cells = new Map<string, Awaited<ReturnType<typeof openCell>>>();
  for (const [number, name] of names.entries()) cells.set(name, await openCell(number));
  const stores = new Map([...cells].map(([name, { store }]) => [name, store]));
  const of = (name: string) => cells.get(name) as Awaited<ReturnType<typeof openCell>>;
  const map = Object.fromEntries(names.map((name, number) => [name, { number, stage: "dev", api: of(name).api }]));
  await initCells(stores, map);
  const frontWith = (apis: Readonly<Record<string, string>> = {}, own: Partial<Record<string, object>> = {}) => {
    const front = createFront({
      cells: new Map(
        [...cells].map(([name, { api, store }]) => [
          name,
          { api: apis[name] ?? api, store: { ...store, ...own[name] } },
        ]),
      ),
      registry: of("a").world.options.registry,
      random: systemRandom,
      log: of("a").world.ports.log,
    });
    return async (method: string, path: string, body?: object, headers: object = {}): Promise<Answered> => {
      const answer = await front.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method,
          headers: { host: "127.0.0.1:4400", "content-type": "application/json", ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      );
      return { status: answer.status, body: (await answer.json()) as Answered["body"] };
    };
  };
  return { of, stores, frontWith, call: frontWith() };
}

async function openCell(number: number) {
  const world = await openApi(undefined, { own: true });
  await migrate({ url: world.database.url, cell: number });
  const server = createAdaptorServer({ fetch: world.api.fetch }) as Server;
  const api = await served(server);
  const { main, where } = world.database.connections;
  return { world, api, server, store: createCellStore(createSession(main, where)) };
}

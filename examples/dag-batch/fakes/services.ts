import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { openLedger } from "../../fake/ledger.ts";
import { home, serve } from "../../fake/serve.ts";
import { graphs, statementCents, statementTreatment } from "../input.ts";
import type { Settlement, TaskOrder } from "../services.ts";
import { readGraphFile } from "../workflow.ts";

const name = "dag-batch-services";
const ledger = openLedger(home(), name);
const scale = Number(process.env["BELFRY_TIME_SCALE"] ?? 1);
const nodes = 4;
let turns = 0;
const tablesHave = (graph: string): boolean => !graphs.includes(graph);

/** The bank, the accounting office and the cluster, with one ledger for all three: what began, ended or was refused. */
serve(
  name,
  (request, response) => void answer(request, response).catch(() => response.destroy()),
  (url) => ({ DAG_SERVICES_URL: url }),
);

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = String(request.headers["idempotency-key"] ?? "");
  const [, service, day = "", shop = ""] = (request.url ?? "").split("/");
  if (service === "statements") return statement(day, shop, response);
  const body = await json(request);
  if (service === "settlements") return settle(key, body as Settlement, response);
  return runTask(key, body as TaskOrder, response);
}

function statement(day: string, shop: string, response: ServerResponse): void {
  const key = `${day}:${shop}`;
  const treatment = statementTreatment(shop);
  const isLate = treatment === "late" && ledger.count(key, "not ready") < 2;
  const outcome = treatment === "missing" ? "missing" : isLate ? "not ready" : "statement";
  ledger.append({ key, outcome, what: "statement" });
  if (outcome === "statement") reply(response, 200, { cents: statementCents(shop, day) });
  else reply(response, outcome === "missing" ? 404 : 503, {});
}

function settle(key: string, settlement: Settlement, response: ServerResponse): void {
  const { shop, day, diff, ticket } = settlement;
  const outcome = ledger.count(key, "published") > 0 ? "repeated" : "published";
  ledger.append({ key, outcome, what: "settlement", shop, day, diff: diff ?? "unknown", ticket: ticket ?? "none" });
  reply(response, 200, { receipt: `R-${key}` });
}

/** A key that has run is not run again. */
async function runTask(key: string, { graph, task, seconds }: TaskOrder, response: ServerResponse): Promise<void> {
  const entry = { key, what: "task", graph, task };
  const node = `node-${(turns++ % nodes) + 1}`;
  if (ledger.count(key, "ended") > 0) {
    ledger.append({ ...entry, outcome: "repeated" });
    return reply(response, 200, { node });
  }
  ledger.append({ ...entry, outcome: "began" });
  await wait((seconds * 1_000) / scale);
  // A graph from the tables has no file, and fails nowhere.
  const fails = tablesHave(graph) ? undefined : readGraphFile(graph).find((one) => one.name === task)?.fails;
  const outcome = fails === "always" || (fails === "once" && ledger.count(key, "refused") === 0) ? "refused" : "ended";
  ledger.append({ ...entry, outcome });
  if (outcome === "ended") reply(response, 200, { node });
  else reply(response, fails === "always" ? 422 : 503, {});
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

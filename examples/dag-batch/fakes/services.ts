import { setTimeout as wait } from "node:timers/promises";
import { openLedger } from "../../fake/ledger.ts";
import { type Call, home, type Reply, serve } from "../../fake/serve.ts";
import { graphs, statementCents, statementTreatment } from "../input.ts";
import type { Settlement, TaskOrder } from "../services.ts";
import { readGraphFile } from "../workflow.ts";

const name = "dag-batch-services";
const ledger = openLedger(home(), name);
const scale = Number(process.env["BELFRY_TIME_SCALE"] ?? 1);
const nodes = 4;
let turns = 0;

/** The bank, the accounting office and the cluster, with one ledger for all three: what began, ended or was refused. */
serve(name, "DAG_SERVICES_URL", ({ path, key, body }: Call) => {
  const [, service, day = "", shop = ""] = path.split("/");
  if (service === "statements") return statement(day, shop);
  return service === "settlements" ? settle(key, body as Settlement) : runTask(key, body as TaskOrder);
});

function statement(day: string, shop: string): Reply {
  const key = `${day}:${shop}`;
  const treatment = statementTreatment(shop);
  const isLate = treatment === "late" && ledger.count(key, "not ready") < 2;
  const outcome = treatment === "missing" ? "missing" : isLate ? "not ready" : "statement";
  ledger.append({ key, outcome, what: "statement" });
  if (outcome === "statement") return { status: 200, body: { cents: statementCents(shop, day) } };
  return { status: outcome === "missing" ? 404 : 503 };
}

function settle(key: string, { shop, day, diff, ticket }: Settlement): Reply {
  const outcome = ledger.count(key, "published") > 0 ? "repeated" : "published";
  ledger.append({ key, outcome, what: "settlement", shop, day, diff: diff ?? "unknown", ticket: ticket ?? "none" });
  return { status: 200, body: { receipt: `R-${key}` } };
}

/** A key that has run is not run again. */
async function runTask(key: string, { graph, task, seconds }: TaskOrder): Promise<Reply> {
  const note = (outcome: string): void => ledger.append({ key, what: "task", graph, task, outcome });
  const done: Reply = { status: 200, body: { node: `node-${(turns++ % nodes) + 1}` } };
  if (ledger.count(key, "ended") > 0) {
    note("repeated");
    return done;
  }
  note("began");
  await wait((seconds * 1_000) / scale);
  // A graph from the tables has no file, and fails nowhere.
  const file = graphs.includes(graph) ? readGraphFile(graph) : [];
  const fails = file.find((one) => one.name === task)?.fails;
  const isRefused = fails === "always" || (fails === "once" && ledger.count(key, "refused") === 0);
  note(isRefused ? "refused" : "ended");
  return isRefused ? { status: fails === "always" ? 422 : 503 } : done;
}

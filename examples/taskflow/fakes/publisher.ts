import { openLedger } from "../../fake/ledger.ts";
import { home, serve } from "../../fake/serve.ts";
import { refusedTries } from "../requests.ts";

const name = "taskflow-publisher";
const partMs = 1_000 / Number(process.env["BELFRY_TIME_SCALE"] ?? 1);
const ledger = openLedger(home(), name);

/** Where reports come from, a second a part, and are published: a flaky one is refused for a while, a rejected one for good. */
serve(
  name,
  (request, response) => {
    const [, type, report = "", part] = (request.url ?? "").split("/");
    if (part !== undefined) return void setTimeout(() => response.end(`part ${part} of ${report}\n`), partMs);
    const key = String(request.headers["idempotency-key"]);
    const refuse = (status: number): void => {
      ledger.append({ key, outcome: "refused", report, status });
      response.writeHead(status).end();
    };
    request.resume().once("end", () => {
      if (type === "rejected") return refuse(422);
      if (type === "flaky" && ledger.count(key, "refused") < refusedTries) return refuse(503);
      ledger.append({ key, outcome: "published", report });
      response.writeHead(201).end();
    });
  },
  (url) => ({ TASKFLOW_PUBLISHER_URL: url }),
);

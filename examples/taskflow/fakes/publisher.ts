import { openLedger } from "../../fake/ledger.ts";
import { home, serve } from "../../fake/serve.ts";
import { refusedTries } from "../requests.ts";

const name = "taskflow-publisher";
const ledger = openLedger(home(), name);

/** Where reports are published: refuses a flaky one for a while, a rejected one for good, and knows repeats by their key. */
serve(
  name,
  (request, response) => {
    const [, type, report = ""] = (request.url ?? "").split("/");
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

import { setTimeout as wait } from "node:timers/promises";
import { openLedger } from "../../fake/ledger.ts";
import { home, serve } from "../../fake/serve.ts";
import { refusedTries } from "../requests.ts";

const name = "taskflow-publisher";
const partMs = 1_000 / Number(process.env["BELFRY_TIME_SCALE"] ?? 1);
const ledger = openLedger(home(), name);

/** Where reports come from, a second a part, and are published: a flaky one is refused for a while, a rejected one for good. */
serve(name, "TASKFLOW_PUBLISHER_URL", async ({ path, key }) => {
  const [, type, report = "", part] = path.split("/");
  if (part !== undefined) {
    await wait(partMs);
    return { status: 200, body: `part ${part} of ${report}\n` };
  }
  const isBusy = type === "flaky" && ledger.count(key, "refused") < refusedTries;
  const status = type === "rejected" ? 422 : isBusy ? 503 : 201;
  ledger.append({ key, outcome: status === 201 ? "published" : "refused", report, status });
  return { status };
});

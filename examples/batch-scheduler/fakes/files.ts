import { createHash } from "node:crypto";
import { fileContent, fileTreatment, numberOf } from "../input.ts";
import { openLedger } from "../../fake/ledger.ts";
import { home, serve } from "../../fake/serve.ts";

const name = "batch-scheduler-files";
const ledger = openLedger(home(), name);

/** The partners' HTTP server: some files are gone, some fail once or always, some answers end in the middle. */
serve(
  name,
  (request, response) => {
    const path = request.url ?? "/";
    const n = numberOf(path);
    if (!(n >= 1) || fileTreatment(n) === "gone") {
      ledger.append({ key: path, outcome: "refused" });
      response.writeHead(404).end();
      return;
    }
    const treatment = fileTreatment(n);
    const content = fileContent(n);
    if (treatment === "refused always" || (treatment === "refused once" && ledger.count(path, "refused") === 0)) {
      ledger.append({ key: path, outcome: "refused" });
      response.writeHead(503).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/csv", "content-length": Buffer.byteLength(content) });
    if (treatment === "cut off once" && ledger.count(path, "cut off") === 0) {
      ledger.append({ key: path, outcome: "cut off" });
      response.write(content.slice(0, 40), () => response.destroy());
      return;
    }
    const sha256 = createHash("sha256").update(content).digest("hex");
    ledger.append({ key: path, outcome: "accepted", sha256 });
    response.end(content);
  },
  (url) => ({ FILES_URL: url }),
);

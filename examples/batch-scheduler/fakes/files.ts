import { createHash } from "node:crypto";
import { fileContent, fileTreatment, numberOf } from "../input.ts";
import { openLedger } from "../../fake/ledger.ts";
import { home, serve } from "../../fake/serve.ts";

const name = "batch-scheduler-files";
const ledger = openLedger(home(), name);

/** The partners' HTTP server: some files are gone, some fail once or always, some answers end in the middle. */
serve(name, "FILES_URL", ({ path }) => {
  const n = numberOf(path);
  const treatment = n >= 1 ? fileTreatment(n) : "gone";
  const isFirst = (outcome: string): boolean => ledger.count(path, outcome) === 0;
  if (treatment === "gone" || treatment === "refused always" || (treatment === "refused once" && isFirst("refused"))) {
    ledger.append({ key: path, outcome: "refused" });
    return { status: treatment === "gone" ? 404 : 503 };
  }
  const body = fileContent(n);
  const whole = { status: 200, headers: { "content-type": "text/csv" }, body };
  const isCut = treatment === "cut off once" && isFirst("cut off");
  const sha256 = createHash("sha256").update(body).digest("hex");
  ledger.append(isCut ? { key: path, outcome: "cut off" } : { key: path, outcome: "accepted", sha256 });
  return isCut ? { ...whole, cutAfter: 40 } : whole;
});

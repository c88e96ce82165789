import { createHash } from "node:crypto";
import { messageTreatment, numberOf } from "../input.ts";
import { openLedger } from "../../fake/ledger.ts";
import { home, serve } from "../../fake/serve.ts";
import type { toMessage } from "../assembler.ts";

const name = "batch-scheduler-publisher";
const ledger = openLedger(home(), name);
const headers = { "content-type": "application/x-amz-json-1.0" };
const refusal = { __type: "com.amazonaws.sqs#InvalidMessageContents", message: "refused by the fake" };

/** The shop's queue: answers as SQS does, refuses some messages, and its ledger has those that it took. */
serve(name, "ORDERS_QUEUE_URL", ({ body }) => {
  const message = body as ReturnType<typeof toMessage>;
  const key = message.MessageAttributes.key.StringValue;
  const treatment = messageTreatment(numberOf(key));
  const isRefused = treatment === "refused once" ? ledger.count(key, "refused") === 0 : treatment === "refused always";
  ledger.append({ key, outcome: isRefused ? "refused" : "accepted" });
  if (isRefused) return { status: 400, headers, body: refusal };
  const MD5OfMessageBody = createHash("md5").update(message.MessageBody).digest("hex");
  return { status: 200, headers, body: { MessageId: `m-${key}`, MD5OfMessageBody } };
});

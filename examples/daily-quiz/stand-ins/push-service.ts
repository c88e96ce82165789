import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { treatmentOf } from "../input.ts";
import { type Entry, home, openLedger } from "./ledger.ts";

const name = "daily-quiz-push";
const ledger = openLedger(home(), name);
const calm = process.env["QUIZ_CALM"] === "1";

/** The push service: takes each idempotency key once, and treats each user as `input.ts` says. */
const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()));
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ ready: name, env: { QUIZ_PUSH_URL: `http://127.0.0.1:${port}` } }));
});
process.once("SIGTERM", () => process.exit(0));

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = String(request.headers["idempotency-key"]);
  const { userId, day } = (await json(request)) as { userId: string; day: string };
  const user = Number(userId);
  const outcome = outcomeOf(user, key);
  ledger.append({ key, user, day, outcome });
  if (outcome === "hung") return;
  if (outcome === "lost") response.destroy();
  else if (outcome === "gone") response.writeHead(410).end();
  else if (outcome === "busy") response.writeHead(503).end();
  else if (outcome === "throttled") response.writeHead(429, { "retry-after": "60" }).end();
  else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ messageId: `m-${key}` }));
}

function outcomeOf(user: number, key: string): Entry["outcome"] {
  if (ledger.wasDelivered(key)) return "repeated";
  const before = ledger.calls(key);
  switch (treatmentOf(user, { calm })) {
    case "delivered":
      return "sent";
    case "gone":
      return "gone";
    case "always busy":
      return "busy";
    case "busy twice":
      return before < 2 ? "busy" : "sent";
    case "busy once":
      return before < 1 ? "busy" : "sent";
    case "throttled once":
      return before < 1 ? "throttled" : "sent";
    case "hangs once":
      return before < 1 ? "hung" : "sent";
    case "answer lost":
      return "lost";
  }
}

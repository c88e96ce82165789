import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { openLedger } from "../../fake/ledger.ts";
import { home, serve } from "../../fake/serve.ts";
import { type Answer, treatmentOf } from "../input.ts";

const name = "daily-quiz-push";
const ledger = openLedger(home(), name);
const asked = process.env["QUIZ_MOOD"];
const mood = asked === "calm" || asked === "refuses" ? asked : "mixed";

/** The push service: takes each idempotency key once, and treats each user as `input.ts` says. */
serve(
  name,
  (request, response) => void take(request, response).catch(() => response.destroy()),
  (url) => ({ QUIZ_PUSH_URL: url }),
);

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = String(request.headers["idempotency-key"]);
  const { userId, day } = (await json(request)) as { userId: string; day: string };
  const user = Number(userId);
  const outcome = answerTo(user, key);
  ledger.append({ key, user, day, outcome });
  if (outcome === "hung") return;
  if (outcome === "lost") response.destroy();
  else if (outcome === "gone") response.writeHead(410).end();
  else if (outcome === "busy") response.writeHead(503).end();
  else if (outcome === "throttled") response.writeHead(429, { "retry-after": "60" }).end();
  else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ messageId: `m-${key}` }));
}

function answerTo(user: number, key: string): Answer {
  if (ledger.count(key, "sent") + ledger.count(key, "lost") > 0) return "repeated";
  const once = (answer: "busy" | "throttled" | "hung", times = 1): Answer =>
    ledger.count(key, answer) < times ? answer : "sent";
  switch (treatmentOf(user, { mood })) {
    case "delivered":
      return "sent";
    case "gone":
      return "gone";
    case "always busy":
      return "busy";
    case "busy twice":
      return once("busy", 2);
    case "busy once":
      return once("busy");
    case "throttled once":
      return once("throttled");
    case "hangs once":
      return once("hung");
    case "answer lost":
      return "lost";
  }
}

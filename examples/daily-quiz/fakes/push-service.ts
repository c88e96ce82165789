import { openLedger } from "../../fake/ledger.ts";
import { home, type Reply, serve } from "../../fake/serve.ts";
import { type Answer, type Treatment, treatmentOf } from "../input.ts";

const name = "daily-quiz-push";
const ledger = openLedger(home(), name);
const asked = process.env["QUIZ_MOOD"];
const mood = asked === "calm" || asked === "refuses" ? asked : "mixed";

/** What a user's calls are answered first, and how often; then they are taken. */
const first: Readonly<Partial<Record<Treatment, readonly [Answer, number]>>> = {
  gone: ["gone", Infinity],
  "always busy": ["busy", Infinity],
  "busy twice": ["busy", 2],
  "busy once": ["busy", 1],
  "throttled once": ["throttled", 1],
  "hangs once": ["hung", 1],
  "answer lost": ["lost", 1],
};

const replies: Readonly<Record<Answer, (key: string) => Reply>> = {
  sent: (key) => ({ status: 200, body: { messageId: `m-${key}` } }),
  repeated: (key) => ({ status: 200, body: { messageId: `m-${key}` } }),
  lost: () => "drop",
  hung: () => "hang",
  gone: () => ({ status: 410 }),
  busy: () => ({ status: 503 }),
  throttled: () => ({ status: 429, headers: { "retry-after": "60" } }),
};

/** The push service: takes each idempotency key once, and treats each user as `input.ts` says. */
serve(name, "QUIZ_PUSH_URL", ({ key, body }) => {
  const { userId, day } = body as { userId: string; day: string };
  const outcome = answerTo(Number(userId), key);
  ledger.append({ key, user: Number(userId), day, outcome });
  return replies[outcome](key);
});

function answerTo(user: number, key: string): Answer {
  if (ledger.count(key, "sent") + ledger.count(key, "lost") > 0) return "repeated";
  const [answer, times] = first[treatmentOf(user, { mood })] ?? ["sent", Infinity];
  return ledger.count(key, answer) < times ? answer : "sent";
}

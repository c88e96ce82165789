import { RetryLater } from "belfry";
import { httpClient } from "belfry/http";

export interface Push {
  readonly userId: string;
  readonly quizId: string;
  readonly day: string;
}

export interface PushApi {
  /** @throws PermanentError, RetryLater or AmbiguousError, as the HTTP client says. */
  send(push: Push, how: { idempotencyKey: string; signal: AbortSignal }): Promise<{ messageId: string }>;
}

let api: PushApi | null = null;

/** Made once a process, and not before a handler asks: definitions open nothing. */
export function pushApi(): PushApi {
  api ??= connect(need("QUIZ_PUSH_URL"));
  return api;
}

function connect(baseUrl: string): PushApi {
  const http = httpClient({ baseUrl, headersMs: 10_000, totalMs: 15_000, answerBytesMax: 4_096 });
  return {
    async send(push, { idempotencyKey, signal }) {
      const answer = await http.send({ method: "POST", path: "/push", json: push, idempotencyKey, signal });
      const body = answer.json();
      if (typeof body === "object" && body !== null && "messageId" in body)
        return { messageId: String(body.messageId) };
      throw new RetryLater("the answer names no message", { code: "PUSH_ANSWER" });
    },
  };
}

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the example's push service reports it when it starts`);
  return value;
}

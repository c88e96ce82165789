import { createHmac } from "node:crypto";
import type { EventSink } from "../../insight/publish.ts";
import { httpClient } from "../../outside/http/client.ts";

export interface WebhookOptions {
  readonly url: string;
  /** One; two while it is exchanged. */
  readonly secrets: readonly string[];
  /** Names the sender: `belfry/prod`. */
  readonly source: string;
  /** Seconds since 1970; for tests. */
  readonly nowSeconds?: () => number;
}

/**
 * Posts `{"source", "events": [...]}`. `belfry-signature: t=SECONDS,v1=HEX` is the HMAC-SHA256 of `SECONDS.BODY` under the
 * secret, so that a receiver can refuse what is forged and what is old; a second secret adds a second `v1`. Any 2xx accepts all of them.
 */
export function webhookSink({ url, secrets, source, nowSeconds = seconds }: WebhookOptions): EventSink {
  const client = httpClient({ baseUrl: url });
  return {
    name: `webhook ${new URL(url).host}`,
    async send(events, signal) {
      const json = { source, events };
      const signature = signatureOf(secrets, nowSeconds(), JSON.stringify(json));
      await client.send({ method: "POST", path: "", json, headers: { "belfry-signature": signature }, signal });
    },
  };
}

function signatureOf(secrets: readonly string[], at: number, body: string): string {
  const under = (secret: string): string => createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
  return [`t=${at}`, ...secrets.map((secret) => `v1=${under(secret)}`)].join(",");
}

const seconds = (): number => Math.floor(Date.now() / 1_000);

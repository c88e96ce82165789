import { createHmac } from "node:crypto";
import type { EventSink } from "../../core/admin/publish.ts";
import { httpClient } from "../http/client.ts";

export interface WebhookOptions {
  readonly url: string;
  readonly secret: string;
  /** Names the sender: `belfry/prod`. */
  readonly source: string;
  /** Seconds since 1970; for tests. */
  readonly nowSeconds?: () => number;
}

/**
 * Posts `{"source", "events": [...]}`. `belfry-signature: t=SECONDS,v1=HEX` is the HMAC-SHA256 of `SECONDS.BODY` under the
 * secret, so that a receiver can refuse what is forged and what is old. Any 2xx accepts all of them.
 */
export function webhookSink({ url, secret, source, nowSeconds = seconds }: WebhookOptions): EventSink {
  const client = httpClient({ baseUrl: url });
  return {
    name: `webhook ${new URL(url).host}`,
    async send(events, signal) {
      const json = { source, events };
      const signature = signatureOf(secret, nowSeconds(), JSON.stringify(json));
      await client.send({ method: "POST", path: "", json, headers: { "belfry-signature": signature }, signal });
    },
  };
}

function signatureOf(secret: string, at: number, body: string): string {
  return `t=${at},v1=${createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")}`;
}

const seconds = (): number => Math.floor(Date.now() / 1_000);

import { createHmac } from "node:crypto";
import type { EventSink } from "../../insight/publish.ts";
import { httpClient } from "../../outside/http/client.ts";
import { z } from "zod";
import { isLoopback } from "../../outside/outside-address.ts";

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

/** Events name keys and errors, so they leave this machine encrypted. */
export const webhookAddress = z
  .string()
  .refine(mayGetEvents, "must be an https URL; http is taken for addresses of this machine alone");

function mayGetEvents(address: string): boolean {
  const { protocol } = URL.parse(address) ?? {};
  return protocol === "https:" || (protocol === "http:" && isLoopback(address));
}

const secretCharactersMin = 16;
const secretRule = `must be at least ${secretCharactersMin} characters, or two such secrets with a comma between them; it signs what is sent`;
/** While a secret is exchanged there are two, and what is sent has a signature under each. */
export const webhookSecrets = z
  .string()
  .transform((text) => text.split(","))
  .pipe(z.array(z.string().min(secretCharactersMin, secretRule)).max(2, secretRule));

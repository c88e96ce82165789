import type { EventSink } from "../../insight/publish.ts";
import { eventBridgeSink } from "./event-bridge.ts";
import { webhookSecrets, webhookSink } from "./webhook.ts";

/** Where a stage publishes its events. */
export type EventSinkSettings =
  | { readonly kind: "bus"; readonly bus: string }
  /** The secrets are null where they are kept elsewhere and read at start. */
  | { readonly kind: "webhook"; readonly url: string; readonly secrets: readonly string[] | null };

export function eventSink(
  settings: EventSinkSettings,
  options: { stage: string; region: string; endpoint: string | null; secret?: string | undefined },
): EventSink {
  const source = `belfry/${options.stage}`;
  if (settings.kind === "webhook") {
    return webhookSink({ url: settings.url, secrets: settings.secrets ?? secretsIn(options.secret), source });
  }
  return eventBridgeSink({ bus: settings.bus, region: options.region, endpoint: options.endpoint, source });
}

function secretsIn(text: string | undefined): readonly string[] {
  const read = webhookSecrets.safeParse(text);
  if (read.success) return read.data;
  const rule = text === undefined ? "was not read: it signs what is sent" : (read.error.issues[0]?.message ?? "");
  throw new Error(`the webhook's secret ${rule}`);
}

import type { EventSink } from "../../core/admin/publish.ts";
import { eventBridgeSink } from "./event-bridge.ts";
import { webhookSink } from "./webhook.ts";

/** Where a stage publishes its events. */
export type EventSinkSettings =
  | { readonly kind: "bus"; readonly bus: string }
  /** The secret is null where it is kept elsewhere and read at start. */
  | { readonly kind: "webhook"; readonly url: string; readonly secret: string | null };

export function eventSink(
  settings: EventSinkSettings,
  options: { stage: string; region: string; endpoint: string | null; secret?: string | undefined },
): EventSink {
  const source = `belfry/${options.stage}`;
  if (settings.kind === "webhook") {
    const secret = settings.secret ?? options.secret;
    if (secret === undefined) throw new Error("the webhook's secret was not read: it signs what is sent");
    return webhookSink({ url: settings.url, secret, source });
  }
  return eventBridgeSink({ bus: settings.bus, region: options.region, endpoint: options.endpoint, source });
}

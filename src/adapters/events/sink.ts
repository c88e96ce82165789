import type { EventSink } from "../../core/admin/publish.ts";
import { eventBridgeSink } from "./event-bridge.ts";
import { webhookSink } from "./webhook.ts";

/** Where a stage publishes its events. */
export type EventSinkSettings =
  | { readonly kind: "bus"; readonly bus: string }
  | { readonly kind: "webhook"; readonly url: string; readonly secret: string };

export function eventSink(
  settings: EventSinkSettings,
  options: { stage: string; region: string; endpoint: string | null },
): EventSink {
  const source = `belfry/${options.stage}`;
  if (settings.kind === "webhook") return webhookSink({ ...settings, source });
  return eventBridgeSink({ bus: settings.bus, region: options.region, endpoint: options.endpoint, source });
}

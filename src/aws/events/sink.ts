import type { EventSink } from "../../insight/publish.ts";
import { webhookSecrets, webhookSink } from "./webhook.ts";
import { publishLimits } from "../../insight/publish-limits.ts";
import type { StreamEvent } from "../../insight/event-stream.ts";
import { chunksOf } from "../../machine/chunks.ts";
import { objectIn, jsonFetch } from "../signed-fetch.ts";

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

const eventBridgeBatchMax = 10;

export interface EventBridgeOptions {
  /** Name or ARN. */
  readonly bus: string;
  readonly region: string;
  /** Null: the service of the region. */
  readonly endpoint: string | null;
  /** Becomes `source` of the events: `belfry/prod`. */
  readonly source: string;
}

/**
 * PutEvents, ten a call, the service's maximum; `detail-type` is `Job SUCCESS` and so on, `detail` the event.
 * A rule's target sees an event again when a call is repeated, with the same `detail.id`.
 */
export function eventBridgeSink(options: EventBridgeOptions): EventSink {
  const { bus, region, endpoint } = options;
  return {
    name: `bus ${bus}`,
    async send(events, signal) {
      for (const page of chunksOf(events, eventBridgeBatchMax)) {
        signal.throwIfAborted();
        const Entries = page.map((event) => entryOf(event, options));
        const response = await jsonFetch({
          url: endpoint ?? `https://events.${region}.amazonaws.com/`,
          service: "events",
          region,
          target: "AWSEvents.PutEvents",
          input: { Entries },
          timeoutMs: publishLimits.publishCallMs,
        });
        assertAccepted(response.status, await response.text());
      }
    },
  };
}

const entryOf = (event: StreamEvent, { bus, source }: EventBridgeOptions) => ({
  EventBusName: bus,
  Source: source,
  DetailType: `Job ${event.to}`,
  Time: Math.floor(Date.parse(event.at) / 1_000),
  Resources: [],
  Detail: JSON.stringify(event),
});

/** A call may answer 200 and still have refused some: an entry without an id was not taken. */
function assertAccepted(status: number, text: string): void {
  const answer = objectIn<Answer>(text);
  const refused = (answer.Entries ?? []).find((entry) => entry.ErrorCode !== undefined);
  if (status === 200 && (answer.FailedEntryCount ?? 0) === 0 && refused === undefined) return;
  const why = refused === undefined ? text.slice(0, 300) : `${refused.ErrorCode}: ${refused.ErrorMessage ?? ""}`;
  throw new Error(`PutEvents answered ${status}, ${answer.FailedEntryCount ?? "all"} refused: ${why}`);
}

interface Answer {
  readonly FailedEntryCount?: number;
  readonly Entries?: readonly { readonly ErrorCode?: string; readonly ErrorMessage?: string }[];
}

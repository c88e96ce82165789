import type { RunId } from "../../core/job/job.ts";
import { z } from "zod";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { streamLimits } from "../../core/ports/stream-limits.ts";
import { type EventFilter, matchesFilter, parseCursor, type StreamCursor } from "../../core/ports/event-stream.ts";
import { publishedEvent } from "../../core/admin/publish.ts";
import { states } from "../../core/job/state.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { searchWithin } from "../scope.ts";
import { endedSource, eventSource } from "../event-source.ts";
import { createLiveFeed } from "../live-feed.ts";
import type { ApiOptions } from "../options.ts";
import { id, text, someOf } from "../query-fields.ts";
import { eventPage } from "../shape/event.ts";
import { jobJson } from "../shape/job.ts";

const cursor = z
  .string()
  .refine((value) => parseCursor(value) !== null, "must be the cursor of an earlier answer, or the id of an event")
  .transform((value) => value as StreamCursor)
  .meta({
    as: {
      type: "string",
      description: "Where the page or stream before ended; for clients that cannot send `Last-Event-ID`.",
    },
  });

const eventsQuery = z.strictObject({
  kind: text(contractLimits.idCharactersMax).optional(),
  lane: text(contractLimits.idCharactersMax).optional(),
  job: id.optional(),
  run: id.optional(),
  state: someOf(states, "Only in these states.").optional(),
  cursor: cursor.optional(),
});

/** GET /events: live as server-sent events, or a page at a time for a client that asks for JSON. */
export function eventEndpoints(options: ApiOptions): readonly Endpoint[] {
  const { operations, ports } = options;
  const feed = createLiveFeed({ operations, clock: ports.clock, log: ports.log });
  return [
    endpoint("GET /events", {
      name: "listEvents",
      summary: "Every change of state as it becomes visible: a snapshot, then events; or a page of them as JSON",
      scope: "list",
      query: eventsQuery,
      replies: { 200: eventPage },
      streams: "text/event-stream",
      async handle({ query, request, within, shown }) {
        const filter = { ...filterOf(query), ...searchWithin(within) };
        const last = cursor.safeParse(request.headers.get("last-event-id")).data ?? query.cursor ?? null;
        // A HEAD has no reader, so nothing would end its stream.
        if (request.method !== "GET" || !(request.headers.get("accept") ?? "").includes("text/event-stream")) {
          return { status: 200, body: await page(options, filter, last) };
        }
        const snapshot = async (): Promise<string> =>
          JSON.stringify(await shown({ jobs: await newest(options, filter) }));
        if (options.endsStreams === true) return endedSource({ operations, filter, cursor: last, snapshot });
        const { saves } = options;
        return eventSource({ operations, clock: ports.clock, feed, saves, filter, cursor: last, snapshot });
      },
    }),
  ];
}

function filterOf({ kind, lane, job, run, state }: z.infer<typeof eventsQuery>): EventFilter {
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(lane === undefined ? {} : { lane }),
    ...(job === undefined ? {} : { jobId: job }),
    ...(run === undefined ? {} : { runId: run as string as RunId }),
    ...(state === undefined ? {} : { to: state }),
  };
}

async function page(options: ApiOptions, filter: EventFilter, from: StreamCursor | null) {
  const read = await options.operations.stream(from, streamLimits.streamRowsMax);
  const events = read.events.filter((event) => matchesFilter(event, filter)).map(publishedEvent);
  return { ...read, events, ...(from === null ? { jobs: await newest(options, filter) } : {}) };
}

async function newest({ operations, ports }: ApiOptions, { kind, kinds, lane, runId }: EventFilter) {
  const search = {
    ...(kind === undefined ? {} : { kind }),
    ...(kinds === undefined ? {} : { kinds }),
    ...(lane === undefined ? {} : { lane }),
    ...(runId === undefined ? {} : { runId }),
  };
  const { jobs } = await operations.jobs({
    search,
    sort: "newest",
    cursor: null,
    limit: streamLimits.streamSnapshotJobsMax,
  });
  const now = await ports.store.now();
  return jobs.map((job) => jobJson(job, now));
}

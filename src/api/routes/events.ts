import { z } from "zod";
import { streamLimits } from "../../insight/stream-limits.ts";
import {
  type EventFilter,
  matchesFilter,
  parseCursor,
  type ReadEvents,
  type StreamCursor,
  streamEvent,
} from "../../insight/event-stream.ts";
import { findJobs } from "../../insight/find-jobs.ts";
import { readEvents } from "../../insight/stream.ts";
import { states } from "../../machine/state.ts";
import { endpoint } from "../endpoint.ts";
import { endedSource, eventSource } from "../event-source.ts";
import { createLiveFeed } from "../live-feed.ts";
import type { ApiOptions } from "../options.ts";
import { commaTextsOf, id, instant, nameText, pageFields, someOf, text } from "../query-fields.ts";
import { readAudits } from "../../insight/audit.ts";
import { pageOf } from "../query.ts";
import { auditList } from "../shape/overview.ts";
import { refusedSave } from "../shape/schedule.ts";
import { job } from "../../insight/job.ts";

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
  kind: nameText().optional(),
  lane: nameText().optional(),
  job: id.optional(),
  run: id.optional(),
  state: someOf(states, "Only in these states.").optional(),
  cursor: cursor.optional(),
});

/** GET /events: live as server-sent events, or a page at a time for a client that asks for JSON. */
export function eventEndpoint(options: ApiOptions) {
  const { insight, ports } = options;
  const read: ReadEvents = (from, limit) => readEvents(insight, from, limit);
  const feed = createLiveFeed({ readEvents: read, clock: ports.clock, log: ports.log });
  return endpoint("GET /events", {
    name: "listEvents",
    summary: "Every change of state as it becomes visible: a snapshot, then events; or a page of them as JSON",
    description:
      "With `accept: text/event-stream`, live: a `snapshot`, then a `job` event for each change of state; `gap` says that some may be missing. Reconnect with `Last-Event-ID`. Otherwise a page as JSON: ask again with its cursor.",
    example: { query: { state: "FAILED" } },
    scope: "list",
    query: eventsQuery,
    replies: { 200: eventPage },
    streams: "text/event-stream",
    message: streamMessage,
    async handle({ query: { cursor: named = null, ...query }, request, within, shown }) {
      const filter = { ...query, ...within.search };
      const last = cursor.safeParse(request.headers.get("last-event-id")).data ?? named;
      // A HEAD has no reader, so nothing would end its stream.
      if (request.method !== "GET" || !(request.headers.get("accept") ?? "").includes("text/event-stream")) {
        return { status: 200, body: await page(options, filter, last) };
      }
      const snapshot = async (): Promise<string> =>
        JSON.stringify(await shown({ jobs: await newest(options, filter) }));
      if (options.endsStreams === true) return endedSource({ readEvents: read, filter, cursor: last, snapshot });
      const { saves } = options;
      return eventSource({ readEvents: read, clock: ports.clock, feed, saves, filter, cursor: last, snapshot });
    },
  });
}

async function page(options: ApiOptions, filter: EventFilter, from: StreamCursor | null) {
  const read = await readEvents(options.insight, from, streamLimits.streamRowsMax);
  const events = read.events.filter((event) => matchesFilter(event, filter));
  return { ...read, events, ...(from === null ? { jobs: await newest(options, filter) } : {}) };
}

async function newest({ insight }: ApiOptions, { kind, kinds, lane, run: runId }: EventFilter) {
  const limit = streamLimits.streamSnapshotJobsMax;
  const search = { kind, kinds, lane, runId };
  const { jobs } = await findJobs(insight, { search, sort: "newest", cursor: null, limit });
  return [...jobs];
}

const nothing = z.object({});
/** A message of the stream: its name, and what the JSON of its data is. */
const streamMessage = z
  .union([
    z.object({ event: z.enum(["snapshot"]), data: z.object({ jobs: z.array(job) }) }).meta({ id: "SnapshotMessage" }),
    z.object({ event: z.enum(["job"]), data: streamEvent }).meta({ id: "JobMessage" }),
    z.object({ event: z.enum(["gap"]), data: nothing }).meta({ id: "GapMessage" }),
    z.object({ event: z.enum(["save"]), data: refusedSave.nullable() }).meta({ id: "SaveMessage" }),
  ])
  .meta({ id: "StreamMessage", description: "`save` comes of a local system alone." });

/** A job, its run, and what may have changed it among many. */
const targetsMax = 4;

const auditsQuery = z.strictObject({
  target: commaTextsOf(
    targetsMax,
    "Of these paths and what lies below them: `/jobs/42`, or `/dead-letters,/bulk`. Among the newest 20,000 changes.",
  ).optional(),
  caller: text(500, "Of this caller alone; `deployment` is what releases changed.").optional(),
  createdFrom: instant.optional().describe("At this time or later."),
  createdTo: instant.optional().describe("Before this time."),
  ...pageFields(50),
});

/** A caller chooses the name of its session, so the role stands apart from it. */
function signerOf(caller: string): { readonly role: string | null; readonly session: string | null } {
  const [, role = null, session = null] = /^arn:[\w-]+:sts::\d+:assumed-role\/(.+)\/([^/]+)$/.exec(caller) ?? [];
  return { role, session };
}

export const auditEndpoint = ({ insight }: ApiOptions) =>
  endpoint("GET /audits", {
    name: "listAudits",
    summary: "Who changed what, the newest first",
    description:
      "Who changed what through this API, and what each deployment changed (`DEPLOY`, by `deployment`). Of a payload the row has an HMAC under a key of the stage; `trace` is the request id of the answer. `role` and `session` are those of a signed caller, who chooses the name of the session.",
    example: { query: { limit: "20" } },
    scope: "everything",
    query: auditsQuery,
    replies: { 200: auditList },
    async reply({ query }) {
      const { cursor: before, target: targets, limit: most, ...others } = query;
      const audits = await insight.run(readAudits, { ...others, before, limit: most + 1, targets });
      const { rows, nextCursor } = pageOf(audits, query.limit, ({ id: last }) => last);
      return { audits: rows.map((row) => ({ ...row, ...signerOf(row.caller) })), nextCursor };
    },
  });

/** What polling answers; the stream sends each event by itself. */
export const eventPage = z
  .object({
    events: z.array(streamEvent),
    /** Ask with it for what follows. */
    cursor: z.string(),
    /** More can be asked for at once. */
    isMore: z.boolean(),
    /** The cursor was of another database: events may be missing before these. */
    isGap: z.boolean(),
    /** The newest jobs, when no cursor was given. */
    jobs: z.array(job).optional(),
  })
  .meta({ id: "EventPage" });

export type EventReply = z.infer<typeof streamEvent>;

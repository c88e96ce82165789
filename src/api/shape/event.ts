import { z } from "zod";
import { job } from "./job.ts";
import { count, idText, state, time } from "./shape.ts";

export const streamEvent = z
  .object({
    id: z.string().min(1).max(64),
    at: time,
    job: idText,
    run: idText.nullable(),
    kind: z.string().nullable(),
    key: z.string().nullable(),
    lane: z.string().nullable(),
    from: state.nullable(),
    to: state,
    attempt: count,
    generation: count,
    worker: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .meta({ id: "Event" });

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
export type EventPageReply = z.infer<typeof eventPage>;

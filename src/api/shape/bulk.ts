import { iso } from "../../core/job/units.ts";
import { z } from "zod";
import { type Bulk, bulkActions } from "../../core/ports/bulk.ts";
import type { JobSearch } from "../../core/ports/job-search.ts";
import { count, idText, maybeIso, maybeTime, state, time } from "./shape.ts";

/** As it was asked for, in the names of `listJobs`. */
const filter = z
  .object({
    state: z.array(state),
    id: idText,
    text: z.string(),
    kind: z.string(),
    kinds: z.array(z.string()).describe("Those that its caller may see."),
    lane: z.string(),
    key: z.string(),
    error: z.string(),
    fingerprint: z.array(z.string()),
    run: idText,
    taken: z.literal(true).describe("Without tasks whose branch was not taken."),
    schedule: z.string(),
    worker: z.string(),
    dueFrom: time,
    dueTo: time,
    held: z.boolean(),
    payload: z.record(z.string(), z.string()),
  })
  .partial();

const filterJson = (search: JobSearch): z.infer<typeof filter> => {
  const { states, words, errorCode, fingerprints, runId, scheduleId, dueFrom, dueTo, payload, ...same } = search;
  const given = {
    ...same,
    state: states,
    text: words?.join(" "),
    error: errorCode,
    fingerprint: fingerprints,
    run: runId,
    schedule: scheduleId,
    dueFrom: dueFrom === undefined ? undefined : iso(dueFrom),
    dueTo: dueTo === undefined ? undefined : iso(dueTo),
    payload: payload && Object.fromEntries(payload.map(({ path, value }) => [path.join("."), value])),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
};

const matched = z.object({ count, isMore: z.boolean() });

export const bulk = z
  .object({
    id: idText,
    action: z.enum(bulkActions),
    filter,
    caller: z.string(),
    state: z.enum(["RUNNING", "DONE", "STOPPED"]),
    /** At the request. */
    matched,
    paceMs: z.number().min(0),
    canary: z
      .object({ state: z.enum(["wanted", "out", "passed", "failed"]), jobs: z.array(idText) })
      .nullable()
      .describe("One job of each group goes first, alone; unless all of them succeed, the rest stays as it is."),
    changed: count.describe("That matched."),
    takenAlong: count.describe("Did not match, and run again because a job of their run does."),
    refused: count.describe("Matched, but had moved before their turn."),
    createdAt: time,
    updatedAt: time,
    finishedAt: maybeTime,
  })
  .meta({ id: "Bulk" });

export const bulkList = z.object({ bulks: z.array(bulk), nextCursor: idText.nullable() }).meta({ id: "BulkList" });
export const bulkPreview = z.object({ dryRun: z.literal(true), matched }).meta({ id: "BulkPreview" });

export const bulkJson = (view: Bulk): z.infer<typeof bulk> => ({
  id: view.id,
  action: view.action,
  filter: filterJson(view.search),
  caller: view.caller,
  state: view.state,
  matched: view.matched,
  paceMs: view.paceMs,
  canary: view.canary === null ? null : { state: view.canary.state, jobs: [...view.canary.jobs] },
  changed: view.changed,
  takenAlong: view.takenAlong,
  refused: view.refused,
  createdAt: iso(view.createdAt),
  updatedAt: iso(view.updatedAt),
  finishedAt: maybeIso(view.finishedAt),
});

export type BulkReply = z.infer<typeof bulk>;
export type BulkPreviewReply = z.infer<typeof bulkPreview>;

import { z } from "zod";
import { type Bulk, bulkActions } from "../../core/ports/bulk.ts";
import { count, idText, iso, maybeIso, maybeTime, time } from "./shape.ts";

const matched = z.object({ count, isMore: z.boolean() });

export const bulk = z
  .object({
    id: idText,
    action: z.enum(bulkActions),
    filter: z.unknown(),
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

export const bulkList = z.object({ bulks: z.array(bulk) }).meta({ id: "BulkList" });
export const bulkPreview = z.object({ dryRun: z.literal(true), matched }).meta({ id: "BulkPreview" });

export const bulkJson = (view: Bulk): z.infer<typeof bulk> => ({
  id: view.id,
  action: view.action,
  filter: view.search,
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

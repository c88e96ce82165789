import { iso } from "../../machine/units.ts";
import { z } from "zod";
import { type Bulk, bulkShape, stopText } from "../../insight/bulk.ts";
import { type JobSearch, searchName, type SearchName } from "../../insight/search.ts";
import { boundedCount, count, idText, maybeTime, state, time } from "../../insight/atoms.ts";

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
    createdFrom: time,
    createdTo: time,
    endedFrom: time,
    endedTo: time,
    tookFrom: z.string().describe("Of the last attempt, like `1500ms`."),
    tookTo: z.string(),
    attemptFrom: z.int(),
    attemptTo: z.int(),
    held: z.boolean(),
    payload: z.record(z.string(), z.string()),
  } satisfies { readonly [K in keyof JobSearch as SearchName<K>]-?: z.ZodType })
  .partial();

const isoOf = (at: number | undefined): string | undefined => (at === undefined ? undefined : iso(at));

const filterJson = (search: JobSearch): z.infer<typeof filter> => {
  const { words, payload } = search;
  const times = ["dueFrom", "dueTo", "createdFrom", "createdTo", "endedFrom", "endedTo"] as const;
  const spans = ["tookFrom", "tookTo"] as const;
  const written = {
    ...search,
    words: words?.join(" "),
    ...Object.fromEntries(times.map((name) => [name, isoOf(search[name])])),
    ...Object.fromEntries(spans.map((name) => [name, search[name] === undefined ? undefined : `${search[name]}ms`])),
    payload: payload && Object.fromEntries(payload.map(({ path, value }) => [path.join("."), value])),
  };
  const named = Object.entries(written).map(([field, value]) => [searchName(field), value] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
};

const { id, action, ...others } = bulkShape;
const stopped = z.string().nullable().describe("Why its steps stopped it.");
const lastDueAt = maybeTime.describe("When the last of those that it changed at a pace is due; it is DONE before.");
export const bulk = z.object({ id, action, filter, ...others, stopped, lastDueAt }).meta({ id: "Bulk" });

export const bulkList = z.object({ bulks: z.array(bulk), nextCursor: idText.nullable() }).meta({ id: "BulkList" });
export const bulkPreview = z
  .object({
    dryRun: z.literal(true),
    matched: boundedCount,
    steps: z.array(count).describe("Jobs of each group that would go before the rest."),
  })
  .meta({ id: "BulkPreview" });

export const bulkJson = ({ search, next: _next, dueAt, ...row }: Bulk): z.infer<typeof bulk> => ({
  ...row,
  filter: filterJson(search),
  stopped: stopText(row),
  lastDueAt: row.action !== "retry" || row.paceMs === 0 || row.changed === 0 ? null : iso(dueAt - row.paceMs),
});

export type BulkReply = z.infer<typeof bulk>;
export type BulkPreviewReply = z.infer<typeof bulkPreview>;

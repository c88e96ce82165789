import { z } from "zod";
import { isFailed } from "../machine/job-columns.ts";
import { idText, state } from "./atoms.ts";

const texts = z.array(z.string()).readonly();
const instant = z.number();

/** What a person looks for; an absent field does not narrow. Kept as JSON in a stored change of many jobs, so fields are only added. */
export const jobSearch = z
  .object({
    id: idText,
    /** Each is the id, or a part of the kind, the key or the error, in any case. */
    words: texts,
    states: z.array(state).readonly(),
    kind: z.string(),
    /** Only of these kinds; with `kind`, both must hold. */
    kinds: texts,
    lane: z.string(),
    key: z.string(),
    errorCode: z.string(),
    /** Failures of one of these groups, as the dead letters are grouped. */
    fingerprints: texts,
    runId: idText,
    /** Without tasks whose branch was not taken. */
    taken: z.literal(true),
    scheduleId: z.string(),
    worker: z.string(),
    dueFrom: instant,
    dueTo: instant,
    createdFrom: instant,
    createdTo: instant,
    /** Its end; one that has not ended has none. */
    endedFrom: instant,
    endedTo: instant,
    /** Milliseconds from the last attempt's start to the end. */
    tookFrom: z.number(),
    tookTo: z.number(),
    /** Attempts that began. */
    attemptFrom: z.int(),
    attemptTo: z.int(),
    /** Whether it waits for a slot, a paused lane or kind, or tasks before it. */
    held: z.boolean(),
    /** Members of the payload and the text they must have. */
    payload: z.array(z.object({ path: texts, value: z.string() })).readonly(),
  })
  .partial()
  .readonly();

export type JobSearch = z.infer<typeof jobSearch>;

/** What the API, the command line and the console call a field whose name there is another. */
export const searchNames = {
  states: "state",
  words: "text",
  errorCode: "error",
  fingerprints: "fingerprint",
  runId: "run",
  scheduleId: "schedule",
} as const;

export type SearchName<K extends keyof JobSearch> = K extends keyof typeof searchNames ? (typeof searchNames)[K] : K;

export const searchName = (field: string): string =>
  Object.hasOwn(searchNames, field) ? searchNames[field as keyof typeof searchNames] : field;

/** How each field narrows; $1 is the search as JSON. */
const terms = {
  id: "id = ($1::jsonb ->> 'id')::bigint",
  runId: "run_id = ($1::jsonb ->> 'runId')::bigint",
  states: "$1::jsonb -> 'states' ? state::text",
  kind: "kind = $1::jsonb ->> 'kind'",
  kinds: "$1::jsonb -> 'kinds' ? kind",
  taken: "not not_taken",
  scheduleId: "schedule_id = $1::jsonb ->> 'scheduleId'",
  lane: "lane = $1::jsonb ->> 'lane'",
  key: "key = $1::jsonb ->> 'key'",
  errorCode: "error_code = $1::jsonb ->> 'errorCode'",
  worker: "worker = $1::jsonb ->> 'worker'",
  dueFrom: "due_at >= belfry.at(($1::jsonb ->> 'dueFrom')::float8)",
  dueTo: "due_at < belfry.at(($1::jsonb ->> 'dueTo')::float8)",
  createdFrom: "created_at >= belfry.at(($1::jsonb ->> 'createdFrom')::float8)",
  createdTo: "created_at < belfry.at(($1::jsonb ->> 'createdTo')::float8)",
  endedFrom: "finished_at >= belfry.at(($1::jsonb ->> 'endedFrom')::float8)",
  endedTo: "finished_at < belfry.at(($1::jsonb ->> 'endedTo')::float8)",
  tookFrom: "finished_at - started_at >= ($1::jsonb ->> 'tookFrom')::float8 * interval '1 millisecond'",
  tookTo: "finished_at - started_at <= ($1::jsonb ->> 'tookTo')::float8 * interval '1 millisecond'",
  attemptFrom: "attempt >= ($1::jsonb ->> 'attemptFrom')::int",
  attemptTo: "attempt <= ($1::jsonb ->> 'attemptTo')::int",
  held: "(finished_at is null and (blocked or hold <> 'none')) = ($1::jsonb ->> 'held')::boolean",
  fingerprints: "$1::jsonb -> 'fingerprints' ? belfry.fingerprint(kind, error_code, error_message)",
  words: `not exists (
    select from jsonb_array_elements_text($1::jsonb -> 'words') w
    where id::text <> w and strpos(lower(concat_ws(' ', kind, key, error_code, error_message)), lower(w)) = 0)`,
  payload: `not exists (
    select from jsonb_array_elements($1::jsonb -> 'payload') f
    where payload #>> array(select jsonb_array_elements_text(f -> 'path')) is distinct from f ->> 'value')`,
} satisfies Record<keyof JobSearch, string>;

const unlessAbsent = (of: Readonly<Record<string, string>>): string =>
  Object.entries(of)
    .map(([name, term]) => `($1::jsonb -> '${name}' is null or ${term})`)
    .join("\n  and ");

const { id, runId, ...others } = terms;

/**
 * An unnamed statement is planned with its values, so the planner drops each absent field, and uses the small partial index for
 * the hints `live` and `failed`.
 */
export const within = `($1::jsonb -> 'live' is null or finished_at is null)
  and ($1::jsonb -> 'failed' is null or (${isFailed}))
  and ${unlessAbsent({ id, runId })}`;

export const matches = unlessAbsent(others);

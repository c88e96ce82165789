import { z } from "zod";
import { isFailed } from "../machine/job-columns.ts";
import { idText, shapesOf, state } from "./atoms.ts";

const texts = z.array(z.string()).readonly();
const instant = z.number();

/** What each field of a search holds, and how it narrows; $1 is the search as JSON. */
const fields = {
  id: [idText, "id = ($1::jsonb ->> 'id')::bigint"],
  runId: [idText, "run_id = ($1::jsonb ->> 'runId')::bigint"],
  states: [z.array(state).readonly(), "$1::jsonb -> 'states' ? state::text"],
  kind: [z.string(), "kind = $1::jsonb ->> 'kind'"],
  /** Only of these kinds; with `kind`, both must hold. */
  kinds: [texts, "$1::jsonb -> 'kinds' ? kind"],
  /** Without tasks whose branch was not taken. */
  taken: [z.literal(true), "not not_taken"],
  scheduleId: [z.string(), "schedule_id = $1::jsonb ->> 'scheduleId'"],
  lane: [z.string(), "lane = $1::jsonb ->> 'lane'"],
  key: [z.string(), "key = $1::jsonb ->> 'key'"],
  errorCode: [z.string(), "error_code = $1::jsonb ->> 'errorCode'"],
  worker: [z.string(), "worker = $1::jsonb ->> 'worker'"],
  dueFrom: [instant, "due_at >= belfry.at(($1::jsonb ->> 'dueFrom')::float8)"],
  dueTo: [instant, "due_at < belfry.at(($1::jsonb ->> 'dueTo')::float8)"],
  createdFrom: [instant, "created_at >= belfry.at(($1::jsonb ->> 'createdFrom')::float8)"],
  createdTo: [instant, "created_at < belfry.at(($1::jsonb ->> 'createdTo')::float8)"],
  /** Its end; one that has not ended has none. */
  endedFrom: [instant, "finished_at >= belfry.at(($1::jsonb ->> 'endedFrom')::float8)"],
  endedTo: [instant, "finished_at < belfry.at(($1::jsonb ->> 'endedTo')::float8)"],
  /** Milliseconds from the last attempt's start to the end. */
  tookFrom: [z.number(), "finished_at - started_at >= ($1::jsonb ->> 'tookFrom')::float8 * interval '1 millisecond'"],
  tookTo: [z.number(), "finished_at - started_at <= ($1::jsonb ->> 'tookTo')::float8 * interval '1 millisecond'"],
  /** Attempts that began. */
  attemptFrom: [z.int(), "attempt >= ($1::jsonb ->> 'attemptFrom')::int"],
  attemptTo: [z.int(), "attempt <= ($1::jsonb ->> 'attemptTo')::int"],
  /** Whether it waits for a slot, a paused lane or kind, or tasks before it. */
  held: [z.boolean(), "(finished_at is null and (blocked or hold <> 'none')) = ($1::jsonb ->> 'held')::boolean"],
  /** Failures of one of these groups, as the dead letters are grouped. */
  fingerprints: [texts, "$1::jsonb -> 'fingerprints' ? belfry.fingerprint(kind, error_code, error_message)"],
  /** Each is the id, or a part of the kind, the key or the error, in any case. */
  words: [
    texts,
    `not exists (
    select from jsonb_array_elements_text($1::jsonb -> 'words') w
    where id::text <> w and strpos(lower(concat_ws(' ', kind, key, error_code, error_message)), lower(w)) = 0)`,
  ],
  /** Members of the payload and the text they must have. */
  payload: [
    z.array(z.object({ path: texts, value: z.string() })).readonly(),
    `not exists (
    select from jsonb_array_elements($1::jsonb -> 'payload') f
    where payload #>> array(select jsonb_array_elements_text(f -> 'path')) is distinct from f ->> 'value')`,
  ],
} as const satisfies Readonly<Record<string, readonly [z.ZodType, string]>>;

/** What a person looks for; an absent field does not narrow. Kept as JSON in a stored change of many jobs, so fields are only added. */
export const jobSearch = z.object(shapesOf(fields)).partial().readonly();

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

const unlessAbsent = (of: Readonly<Record<string, readonly [z.ZodType, string]>>): string =>
  Object.entries(of)
    .map(([name, [, term]]) => `($1::jsonb -> '${name}' is null or ${term})`)
    .join("\n  and ");

const { id, runId, ...others } = fields;

/**
 * An unnamed statement is planned with its values, so the planner drops each absent field, and uses the small partial index for
 * the hints `live` and `failed`.
 */
export const within = `($1::jsonb -> 'live' is null or finished_at is null)
  and ($1::jsonb -> 'failed' is null or (${isFailed}))
  and ${unlessAbsent({ id, runId })}`;

export const matches = unlessAbsent(others);

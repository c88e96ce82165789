import { Client } from "pg";
import { minute } from "../../contract/store/fixture.ts";
import { at, type Row } from "./stage.ts";
import type { World } from "./tour.ts";

/** While another session holds the rows that `locking` locks: a statement that waits for one of them does not end. */
export async function whileHeld({ url }: World, locking: string, work: () => Promise<void>): Promise<void> {
  const holder = new Client({ connectionString: url });
  await holder.connect();
  try {
    await holder.query(`begin; ${locking}`);
    await work();
    await holder.query("rollback");
  } finally {
    await holder.end();
  }
}

const isFinal = (state: string): boolean => ["SUCCESS", "FAILED", "CANCELED", "SKIPPED"].includes(state);

/** A job's row, with the columns that its state calls for. Ids are above those that verbs draw. */
export const jobRow = (id: number, { state = "PENDING", ...over }: Row & { readonly state?: string } = {}): Row => ({
  id: 1_000 + id,
  kind: "stage",
  payload: {},
  payload_hash: "\\x",
  lane: "default",
  state,
  event_id: 0,
  due_at: at(0),
  generation: 1,
  max_attempts: 4,
  lease_ms: 20_000,
  retention_ms: minute,
  trace: "trace-1",
  created_at: at(-minute),
  ...(state === "QUEUED" || state === "RUNNING" ? { dispatched_at: at(-2_000) } : {}),
  ...(state === "RUNNING" ? { attempt: 1, worker: "worker-1", started_at: at(-1_000), lease_id: 1 } : {}),
  ...(isFinal(state) ? { finished_at: at(-500) } : {}),
  ...(state === "FAILED" ? { error_code: "BAD" } : {}),
  ...over,
});

export const runRow = (id: number, { state = "RUNNING", ...over }: Row & { readonly state?: string } = {}): Row => ({
  id: 1_000 + id,
  kind: "stage",
  key: `run-${id}`,
  version: 1,
  state,
  created_at: at(-minute),
  ...(["DONE", "FAILED", "CANCELED"].includes(state) ? { finished_at: at(-400) } : {}),
  ...over,
});

/** `spec` is what the statements read of it. */
export const scheduleRow = (id: string, { spec = {}, ...over }: Row & { readonly spec?: object } = {}): Row => ({
  id,
  app: "stage",
  version: 1,
  source: "code",
  spec: { id, app: "stage", timezone: "UTC", enabled: true, job: { kind: "stage", lane: "default" }, ...spec },
  enabled: true,
  decided_until: at(0),
  next_at: at(minute),
  ledger_from: at(-60 * minute),
  created_at: at(-60 * minute),
  updated_at: at(-60 * minute),
  ...over,
});

export const occurrenceRow = (
  schedule: string,
  ms: number,
  { outcome = "FIRED", ...over }: Row & { readonly outcome?: string } = {},
): Row => ({
  schedule_id: schedule,
  local_time: at(ms).slice(0, 23),
  fold: 0,
  timezone: "UTC",
  nominal_at: at(ms),
  outcome,
  schedule_version: 1,
  planned_at: at(ms),
  ...(outcome === "PLANNED" ? {} : { decided_at: at(ms) }),
  ...(outcome === "SKIPPED" ? { reason: "paused" } : {}),
  ...over,
});

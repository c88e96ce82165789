import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAllowed, type State, states } from "../../src/machine/state.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";

/** The table itself refuses what the state machine does not know, from any caller. */
describe("the guard of the job table", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await freshDatabase({ own: true });
    // The guard is on its own here, as in production.
    await db.pool.query("drop trigger job_moves_verified on belfry.job");
  });
  afterAll(() => db.close());

  const pairs = states.flatMap((from) => states.map((to) => [from, to] as const)).filter(([from, to]) => from !== to);

  test.each(pairs)("%s -> %s is judged as the transition table says", async (from, to) => {
    const id = await place(from);
    const answer = await move(id, to);
    expect(answer).toContain(isAllowed(from, to) ? "moved" : `${from} -> ${to} is not a legal transition`);
  });

  test.each(pairs)("%s -> %s without a new event is refused", async (from, to) => {
    const id = await place(from);
    const answer = await move(id, to, "event_id");
    expect(answer).toContain(isAllowed(from, to) ? "names no new event" : "is not a legal transition");
  });

  test.each(pairs)("%s -> %s with an older event is refused", async (from, to) => {
    const id = await place(from);
    const answer = await move(id, to, "event_id - 1");
    expect(answer).toContain(isAllowed(from, to) ? "names no new event" : "is not a legal transition");
  });

  test.each(states)("the event of a %s job does not change without a move", async (state) => {
    const id = await place(state);
    expect(await attemptUpdate(`update belfry.job set event_id = event_id + 1 where id = ${id}`)).toContain(
      "event_id changes only with the state",
    );
  });

  test.each(states)("staying in %s is not a move", async (state) => {
    const id = await place(state);
    expect(await attemptUpdate(`update belfry.job set state = '${state}', progress = 0.5 where id = ${id}`)).toBe(
      "moved",
    );
  });

  test("RUNNING needs the next attempt, no more and no less", async () => {
    for (const step of [0, 2, -1]) {
      const id = await place("QUEUED");
      const answer = await attemptUpdate(`${running} attempt = attempt + ${step} where id = ${id}`);
      expect(answer).toContain("entering RUNNING with attempt");
    }
  });

  test("no other move changes the attempt", async () => {
    const id = await place("RUNNING");
    const answer = await attemptUpdate(`${finals("SUCCESS")}, attempt = attempt + 1 where id = ${id}`);
    expect(answer).toContain("entering SUCCESS with attempt");
  });

  test("the attempt does not change within a state", async () => {
    const id = await place("RUNNING");
    expect(await attemptUpdate(`update belfry.job set attempt = attempt + 1 where id = ${id}`)).toContain(
      "attempt changes only",
    );
    expect(await attemptUpdate(`update belfry.job set attempt = attempt - 1 where id = ${id}`)).toContain(
      "attempt changes only",
    );
  });

  test.each(["PENDING", "RETRY_WAIT"] as const)("%s -> QUEUED needs a new generation", async (from) => {
    const id = await place(from);
    expect(
      await attemptUpdate(
        `update belfry.job set state = 'QUEUED', dispatched_at = belfry.now(), ${event} where id = ${id}`,
      ),
    ).toContain("needs a new generation");
  });

  test("a released job needs a new generation, so that its old message cannot claim it", async () => {
    const id = await place("RUNNING");
    const text = `update belfry.job set state = 'QUEUED', lease_id = null, ${event} where id = ${id}`;
    expect(await attemptUpdate(text)).toContain("needs a new generation");
  });

  test.each(states)("the generation of a %s job never goes down", async (state) => {
    const id = await place(state);
    const answer = await attemptUpdate(`update belfry.job set generation = generation - 1 where id = ${id}`);
    expect(answer).toContain("generation may not go down");
  });

  test.each([
    ["job_lease_while_running", "QUEUED", "lease_id = 1"],
    ["job_lease_while_running", "RUNNING", "lease_id = null"],
    ["job_worker_while_running", "RUNNING", "worker = null"],
    ["job_worker_while_running", "RUNNING", "started_at = null"],
    ["job_finished_when_final", "PENDING", "finished_at = belfry.now()"],
    ["job_finished_when_final", "SUCCESS", "finished_at = null"],
    ["job_counters", "PENDING", "dead_letters = -1"],
    ["job_counters", "RUNNING", "interruptions = -1"],
    ["job_attempts", "PENDING", "failures = 2"],
    ["job_attempts", "SUCCESS", "failures = 2"],
    ["job_debounce", "QUEUED", "joined = 0"],
    ["job_debounce", "QUEUED", "due_at_most = belfry.now()"],
    ["job_held_on", "QUEUED", "held_on = 'cap:x'"],
    ["job_hold_while_waiting", "QUEUED", "hold = 'paused', held_on = 'lane:default'"],
    ["job_held_on", "PENDING", "hold = 'slot'"],
    ["job_held_on", "PENDING", "held_on = 'cap:x'"],
    ["job_dispatched_when_out", "PENDING", "dispatched_at = belfry.now()"],
    ["job_dispatched_when_out", "RUNNING", "dispatched_at = null"],
    ["job_failed_has_code", "FAILED", "error_code = null"],
    ["job_blocked_while_waiting", "QUEUED", "blocked = true"],
  ] as const)("%s refuses a %s row with %s", async (constraint, state, change) => {
    const id = await place(state);
    expect(await attemptUpdate(`update belfry.job set ${change} where id = ${id}`)).toContain(constraint);
  });

  const event = "event_id = event_id + 1";
  const running = `update belfry.job set state = 'RUNNING', worker = 'w', started_at = belfry.now(), lease_id = 1,
    dispatched_at = belfry.now(), finished_at = null, ${event},`;
  const finals = (to: State): string =>
    `update belfry.job set state = '${to}', lease_id = null, finished_at = belfry.now(), error_code = 'Code', ${event}`;

  /** A row in any state, with what the constraints ask of that state. */
  async function place(state: State): Promise<string> {
    const { rows } = await db.pool.query<{ id: string }>(
      `insert into belfry.job (kind, payload, lane, state, event_id, due_at, generation, attempt, max_attempts,
         lease_ms, retention_ms, trace, worker, started_at, lease_id, dispatched_at, finished_at, error_code, created_at)
       select 'k', '{}', 'default', $1::belfry.job_state, 0, belfry.now(), 5, 1, 4, 20000, 2592000000, 't', 'w',
         belfry.now(), case when $1 = 'RUNNING' then 1 end, case when $1 not in ('PENDING', 'RETRY_WAIT') then belfry.now() end,
         case when $1 in ('SUCCESS', 'FAILED', 'CANCELED', 'SKIPPED') then belfry.now() end,
         case when $1 = 'FAILED' then 'Code' end, belfry.now()
       returning id`,
      [state],
    );
    return rows[0]?.id ?? "";
  }

  /** The move with everything else done right, so that only its legality is judged. */
  function move(id: string, to: State, eventId = "event_id + 1"): Promise<string> {
    return attemptUpdate(textOf(id, to).replace(event, `event_id = ${eventId}`));
  }

  function textOf(id: string, to: State): string {
    if (to === "RUNNING") return `${running} attempt = attempt + 1 where id = ${id}`;
    if (["SUCCESS", "FAILED", "CANCELED", "SKIPPED"].includes(to)) return `${finals(to)} where id = ${id}`;
    return `update belfry.job set state = '${to}', lease_id = null, finished_at = null, ${event},
         dispatched_at = case when '${to}' = 'QUEUED' then belfry.now() end,
         generation = generation + case when '${to}' = 'QUEUED' then 1 else 0 end where id = ${id}`;
  }

  async function attemptUpdate(text: string): Promise<string> {
    try {
      const { rowCount } = await db.pool.query(text);
      return rowCount === 1 ? "moved" : `${rowCount} rows`;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
});

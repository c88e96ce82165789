import type { AttemptRef } from "../../machine/job.ts";
import { leaseEnd } from "./record.ts";
import { keptStatement, statement } from "../statement.ts";
import { type ClaimedRow, claimedColumns } from "./claim.ts";

/**
 * One job of this worker gets a lease of its own: `extendLease` for a time it names, `takeOver` for another worker, solo.
 * $1 id $2 attempt $3 worker $4 who holds it then $5 milliseconds, null for the job's own. The lease before stays with the
 * rest of its jobs, or is ended by rescue. Locks: its one job.
 */
const moveLease = `
with mine as materialized (
  select id, lane, lease_ms, lease_id from belfry.job
  where id = $1::bigint and state = 'RUNNING' and attempt = $2::int and worker = $3
  for no key update
), leased as (
  insert into belfry.lease (worker, lane, ms, until, solo, job_ids)
  select $4, lane, lease_ms, ${leaseEnd("coalesce($5::float8, lease_ms)")},
    $4 <> $3 or (select solo from belfry.lease l where l.id = mine.lease_id), array[id]
  from mine
  returning id
)
update belfry.job j set lease_id = l.id, worker = $4 from mine m cross join leased l where j.id = m.id`;

export const extendLease = statement<{ id: string }>("lease-extend")(`${moveLease} returning j.id`);

/** A running attempt passes to the task that was launched for it. */
export const takeOverLease = statement<ClaimedRow>("lease-take-over")(`${moveLease}
returning null as reason, ${claimedColumns}`);

/** Changes the leases that have not ended of the workers whose names begin with $1; `change` may use what `read` selects, as m. */
const changeLeases = (name: string, change: string, read = "id") =>
  statement<never>(name)(`
with mine as materialized (
  select ${read} from belfry.lease where starts_with(worker, $1) and until > 'epoch' order by id for no key update
)
update belfry.lease l set ${change} from mine m where l.id = m.id`);

/** Ends the leases of a worker, at a time that says so, by the cause $2. Who sees it first says why. Locks: its leases in id order, waiting. */
export const endLeases = changeLeases("lease-end", `until = 'epoch', cause = $2`);

/** Notes why a worker stands still, the cause $2; a heartbeat forgets it. Locks: its leases in id order, waiting. */
export const noteCause = changeLeases("lease-note", `cause = $2`);

/** Begins the leases of a worker again that a debugger stopped, also one that has run out and was not taken. Locks: its leases in id order, waiting. */
export const keepLeases = changeLeases("lease-keep", `until = ${leaseEnd("m.ms")}`, "id, ms");

/**
 * Renews the leases of these jobs, for all the jobs of each, and answers the attempts still held. $1 ids $2 attempts
 * $3 progress $4 worker. A rescue that it waited for has taken its jobs out of `job_ids`, which `held` does not see.
 * Locks: leases in id order, waiting, while it holds no job; then jobs with SKIP LOCKED: progress may
 * be lost, a lease may not.
 */
export const renewLeases = keptStatement<AttemptRef>("heartbeat")(`
with held as materialized (
  select j.id, j.attempt, j.lease_id, v.progress
  from unnest($1::bigint[], $2::int[], $3::real[]) as v (id, attempt, progress) join belfry.job j on j.id = v.id
  where j.state = 'RUNNING' and j.attempt = v.attempt and j.worker = $4
), mine as materialized (
  select id, ms, job_ids from belfry.lease
  where id = any(array(select lease_id from held)) and worker = $4
  order by id
  for no key update
), renewed as (
  update belfry.lease l set until = ${leaseEnd("m.ms")}, cause = null from mine m where l.id = m.id
), reported as materialized (
  select j.id, h.progress from held h join belfry.job j on j.id = h.id
  where h.progress is not null
    and j.progress is distinct from h.progress and j.lease_id = h.lease_id
  for no key update of j skip locked
), noted as (
  update belfry.job j set progress = t.progress from reported t where j.id = t.id
)
select h.id as "jobId", h.attempt from held h join mine m on m.id = h.lease_id where h.id = any(m.job_ids)`);

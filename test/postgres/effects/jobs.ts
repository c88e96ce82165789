import type { JobId, NewJob } from "../../../src/core/job/job.ts";
import type { Claimed, Message } from "../../../src/core/ports/ports.ts";
import { aJob } from "../../contract/store/fixture.ts";
import type { World } from "./tour.ts";

/** SQL of a stage itself: states that verbs would reach slowly. What it writes is no effect of a statement. */
export async function set(world: World, sql: string, values: readonly unknown[] = []): Promise<void> {
  await world.pool.query(sql, [...values]);
  await world.pool.query("delete from noted.change");
}

/** The rows of this table lie from the last to the first from here on, in the order of `key`. */
export async function turned(world: World, table: "job" | "lease" | "outbox" | "slot", key: string): Promise<void> {
  await set(
    world,
    `do $$ begin
       set local session_replication_role = replica;
       create temp table turned on commit drop as select * from belfry.${table};
       truncate belfry.${table};
       insert into belfry.${table} overriding system value select * from turned order by ${key} desc;
     end $$`,
  );
}

export const jobsOf = (jobs: readonly Partial<NewJob>[]): readonly NewJob[] => jobs.map((over) => aJob(over));

export async function put(world: World, jobs: readonly Partial<NewJob>[]): Promise<readonly JobId[]> {
  const { results } = await world.store.insert(jobsOf(jobs));
  return results.map(({ id }) => id);
}

/** In the order of the ids. */
export async function messagesOf(world: World, ids: readonly JobId[]): Promise<readonly Message[]> {
  const looked = await world.store.peek(ids);
  const generations = new Map(looked.map(({ jobId, generation }) => [jobId, generation]));
  return ids.map((jobId) => ({ jobId, generation: generations.get(jobId) ?? 0, trace: "t" }));
}

export async function claim(
  world: World,
  ids: readonly JobId[],
  { worker = "worker-1", alone = false, asked = [] as readonly JobId[] } = {},
): Promise<readonly Claimed[]> {
  return (await world.store.claim(await messagesOf(world, ids), { worker, alone, asked })).claimed;
}

/** The element at this place; a stage that lacks it is a fault of the tour. */
export function at<T>(list: readonly T[], place: number): T {
  const found = list.at(place);
  if (found === undefined) throw new Error(`a stage has ${list.length} elements, so none at ${place}`);
  return found;
}

/** Sets columns of these jobs: "lane = 'mail', progress = 0.5". */
export async function job(world: World, ids: readonly JobId[], columns: string): Promise<void> {
  await set(world, `update belfry.job set ${columns} where id = any($1::bigint[])`, [ids]);
}

/** A nominal time of the schedule "every", each a minute before the one made last. */
export async function occurrence(
  world: World,
  { job: id, outcome, catchUp = false }: { job: JobId | null; outcome: string; catchUp?: boolean },
): Promise<void> {
  await set(
    world,
    `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, reason, schedule_version, job_id,
       catch_up, planned_at, decided_at)
     select 'every', n::text, 0, 'UTC', belfry.now() - n * interval '1 minute', $2::text::belfry.occurrence_outcome,
       case when $2::text = 'SKIPPED' then 'paused' end, 1, $1, $3, belfry.now(), case when $2::text <> 'PLANNED' then belfry.now() end
     from (select count(*) as n from belfry.occurrence) seen`,
    [id, outcome, catchUp],
  );
}

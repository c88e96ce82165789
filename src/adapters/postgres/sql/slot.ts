/**
 * Whether slot `s` may be taken: no job has it, a canceled job's handler must be gone by now, or the job that it was
 * reserved for is no longer QUEUED under that generation. A lower generation is that of a snapshot before the reservation: a
 * row lock reads the slot as it is now, and the job as it was.
 */
export const isFree = `(s.job_id is null or s.free_from <= belfry.now() or (s.kept_for is not null and not exists (
      select from belfry.job r where r.id = s.job_id
        and (r.generation < s.kept_for or (r.generation = s.kept_for and r.state = 'QUEUED')))))`;

/** `n` free slots of `wanted` (key, size, rows) each, by turn. Locks: slots with SKIP LOCKED. */
export const freeSlots = (
  wanted: string,
): string => `select s.key, s.n, row_number() over (partition by s.key order by s.n) as turn
  from (${wanted}) w
  cross join lateral (
    select key, n from belfry.slot s
    where s.key = w.key and n between 1 and w.size and ${isFree}
    order by n limit w.rows
    for no key update of s skip locked
  ) s`;

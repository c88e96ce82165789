/** Rows that wait for their time or a slot, as the index `job_wait` has them. */
export const isWaiting = "dispatched_at is null and finished_at is null and not blocked";

/** The only order of waiting work, as in `job_wait`: the earliest due first. `job`: the row's name in the statement. */
export const orderOf = (job?: string): string => (job === undefined ? "due_at, id" : `${job}.due_at, ${job}.id`);
export const inOrder = `order by ${orderOf()}`;
export const isBefore = (job: string, other: string): string => `(${orderOf(job)}) < (${orderOf(other)})`;

/** What a job that is no longer on hold, or goes back, waits for: its turn, or only its time. */
const [hold, heldOn] = ["case when turn is null then 'none' else 'slot' end::belfry.job_hold", "coalesce(turn, '')"];
export const waitsAgain = `hold = ${hold}, held_on = ${heldOn}`;
export const againHeld = `${hold} as hold, ${heldOn} as held_on`;

/** The rows that are held for this key, the earliest first. `on`: an expression of SQL. */
export const heldInOrder = (on: string): string => `held_on = ${on} and ${isWaiting} ${inOrder}`;

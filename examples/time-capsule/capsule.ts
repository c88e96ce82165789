import type { Tx } from "belfry";

const openRow = `
  update time_capsule.capsule set opened_at = belfry.now() where id = $1 and opened_at is null
  returning title, md5(content) = checksum as is_whole, closed_at, opened_at`;

// Users are locked in the order of their ids, so that two capsules of the same people cannot wait for each other.
const notifyMembers = `
  with member as materialized (
    select u.id from time_capsule.app_user u
    where u.id in (select user_id from time_capsule.member where capsule_id = $1)
    order by u.id for no key update
  ), numbered as (
    update time_capsule.app_user u set last_notification = u.last_notification + 1 from member m where u.id = m.id
    returning u.id, u.last_notification, u.name, u.email, u.wants_email
  ), written as (
    insert into time_capsule.notification (user_id, n, capsule_id, title, content, created_at)
    select id, last_notification, $1, 'A time capsule is open', $2, belfry.now() from numbered
  )
  select id::text as "userId", name, email, wants_email as "wantsEmail" from numbered order by id`;

type Row = Readonly<{ title: string; is_whole: boolean; closed_at: Date; opened_at: Date }>;
type Notified = Readonly<{ userId: string; name: string; email: string; wantsEmail: boolean }>;

/** @returns who was notified of what, or null when it was open already. @throws Error for a capsule that cannot be read. */
export async function openCapsule(tx: Tx, capsuleId: string) {
  const [capsule] = (await tx.query(openRow, [capsuleId])).rows as Row[];
  if (capsule === undefined) return null;
  if (!capsule.is_whole)
    throw new Error(`the content of capsule ${capsuleId} is damaged: restore it, then retry the job`);
  const [closedAt, openedAt] = [capsule.closed_at.toISOString(), capsule.opened_at.toISOString()];
  const content = `"${capsule.title}" was closed ${agoText(closedAt, openedAt)}. It can be read now.`;
  const notified = (await tx.query(notifyMembers, [capsuleId, content])).rows as Notified[];
  return { title: capsule.title, closedAt, openedAt, notified };
}

const dayMs = 86_400_000;

/** Whole days between two instants, in words. */
export function agoText(closedAt: string, openedAt: string): string {
  const days = Math.floor((Date.parse(openedAt) - Date.parse(closedAt)) / dayMs);
  return days === 0 ? "today" : days === 1 ? "a day ago" : `${days} days ago`;
}

const closeRow = `
  with closed as (
    insert into time_capsule.capsule (title, content, checksum, opens_at) values ($2, $3, md5($3), $4) returning id, opens_at as open_at
  ), owned as (
    insert into time_capsule.member (capsule_id, user_id) select id, $1 from closed
  )
  select id::text, open_at from closed`;

type NewCapsule = Readonly<Record<"user" | "title" | "content", string> & { opensAt: Date }>;

/** Closes a capsule of one user. */
export const closeCapsule = async (tx: Tx, { user, title, content, opensAt }: NewCapsule) =>
  (await tx.query(closeRow, [user, title, content, opensAt])).rows[0];

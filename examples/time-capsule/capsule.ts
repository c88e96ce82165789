import type { Tx } from "belfry";

/** A member who now has a notification. */
export interface Notified {
  readonly userId: string;
  readonly email: string;
  readonly wantsEmail: boolean;
  readonly title: string;
}

const openRow = `
  update time_capsule.capsule set opened_at = belfry.now() where id = $1 and opened_at is null
  returning title, md5(content) = checksum as is_whole`;

// Users are locked in the order of their ids, so that two capsules of the same people cannot wait for each other.
const notifyMembers = `
  with member as materialized (
    select u.id from time_capsule.app_user u
    where u.id in (select user_id from time_capsule.member where capsule_id = $1)
    order by u.id for no key update
  ), numbered as (
    update time_capsule.app_user u set last_notification = u.last_notification + 1 from member m where u.id = m.id
    returning u.id, u.last_notification, u.email, u.wants_email
  ), written as (
    insert into time_capsule.notification (user_id, n, capsule_id, created_at)
    select id, last_notification, $1, belfry.now() from numbered
  )
  select id::text as "userId", email, wants_email as "wantsEmail" from numbered order by id`;

/** @returns the members, or none when it was open already. @throws Error for a capsule that cannot be read. */
export async function openCapsule(tx: Tx, capsuleId: string): Promise<readonly Notified[]> {
  const [capsule] = (await tx.query(openRow, [capsuleId])).rows as unknown as { title: string; is_whole: boolean }[];
  if (capsule === undefined) return [];
  if (!capsule.is_whole)
    throw new Error(`the content of capsule ${capsuleId} is damaged: restore it, then retry the job`);
  const { rows } = await tx.query(notifyMembers, [capsuleId]);
  return rows.map((row) => ({ ...(row as unknown as Omit<Notified, "title">), title: capsule.title }));
}

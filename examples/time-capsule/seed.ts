import { databasePool } from "belfry/connect";
import type { Tx } from "belfry";
import { emailOf, input, isDamaged, membersOf, wantsEmail } from "./input.ts";

const users = `
  insert into time_capsule.app_user (id, name, email, wants_email)
  select id, 'User ' || id, email, wants from unnest($1::bigint[], $2::text[], $3::boolean[]) as v (id, email, wants)
  on conflict (id) do nothing`;

// They open at whole minutes, the first ones some minutes from now: a capsule is not closed for seconds.
const capsules = `
  insert into time_capsule.capsule (id, title, content, checksum, opens_at)
  select id, 'Capsule ' || id, content, case when damaged then 'unreadable' else md5(content) end,
    date_trunc('minute', belfry.now()) + make_interval(mins => $4::int + ((id - 1) / $3::int)::int)
  from unnest($1::bigint[], $2::boolean[]) as v (id, damaged), lateral (select 'Dear ' || id || ', do you remember?' as content) c
  on conflict (id) do nothing`;
const member = "insert into time_capsule.member select $1, unnest($2::bigint[]) on conflict do nothing";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Safe to run again: what is there stays as it is. */
export async function seed(client: Tx, size: typeof input, afterMinutes = 2): Promise<void> {
  const [people, all] = [numbers(size.users), numbers(size.capsules)];
  await client.query(users, [people, people.map(emailOf), people.map(wantsEmail)]);
  await client.query(capsules, [all, all.map(isDamaged), size.perMinute, afterMinutes]);
  for (const capsule of all) await client.query(member, [capsule, membersOf(capsule, size.users)]);
}

// Where the system starts long after its data, as a deployment does, it says when the first ones open.
if (import.meta.main) await seed(databasePool()(), input, Number(process.env["TIME_CAPSULE_AFTER_MINUTES"] ?? 2));

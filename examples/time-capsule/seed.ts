import { databaseConnection } from "belfry/connect";
import { Client } from "pg";
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

const members = `
  insert into time_capsule.member (capsule_id, user_id) select * from unnest($1::bigint[], $2::bigint[]) on conflict do nothing`;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Safe to run again: what is there stays as it is. */
export async function seed(
  client: Pick<Client, "query">,
  size: typeof input | Record<keyof typeof input, number>,
  afterMinutes = 2,
): Promise<void> {
  const everybody = numbers(size.users);
  const all = numbers(size.capsules);
  const pairs = all.flatMap((capsule) => membersOf(capsule, size.users).map((user) => ({ capsule, user })));
  await client.query(users, [everybody, everybody.map(emailOf), everybody.map(wantsEmail)]);
  await client.query(capsules, [all, all.map(isDamaged), size.perMinute, afterMinutes]);
  await client.query(members, [pairs.map(({ capsule }) => capsule), pairs.map(({ user }) => user)]);
}

if (import.meta.main) {
  const client = new Client(databaseConnection());
  await client.connect();
  // Where the system starts long after its data, as a deployment does, it says when the first ones open.
  await seed(client, input, Number(process.env["TIME_CAPSULE_AFTER_MINUTES"] ?? 2));
  await client.end();
}

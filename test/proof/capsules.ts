/** Capsules that open minute by minute before a mail server of some mood. */
import type { Pool } from "pg";
import { type ExampleSystem, startExample } from "./example-system.ts";
import type { ProofContext } from "./proof.ts";
import { until } from "./until.ts";

/** They open `perMinute` at a time, the first ones some minutes from now. */
const capsules = `
  insert into time_capsule.capsule (id, title, content, checksum, opens_at)
  select n, 'Capsule ' || n, 'x', case when n <= $3::int then 'unreadable' else md5('x') end,
    date_trunc('minute', belfry.now()) + make_interval(mins => $4::int + ((n - 1) / $2::int)::int)
  from generate_series(1, $1::int) n`;

/** One member each, who wants mails. */
const users = `
  insert into time_capsule.app_user (id, email, wants_email)
  select n, 'user-' || n || '@post.example', true from generate_series(1, $1::int) n`;
const members = "insert into time_capsule.member select n, n from generate_series(1, $1::int) n";

export interface CapsuleOptions {
  readonly label: string;
  readonly scale: number;
  /** How the mail server treats every mail. */
  readonly mode: string;
}

export const startCapsules = (context: ProofContext, { label, scale, mode }: CapsuleOptions): Promise<ExampleSystem> =>
  startExample(context, {
    name: "time-capsule",
    label,
    scale,
    fakeEnv: { TIME_CAPSULE_MAIL_MODE: mode },
  });

export interface Capsules {
  readonly count: number;
  readonly perMinute: number;
  /** The oldest, which can never be opened. */
  readonly damaged: number;
  /** Minutes from now at which the first ones open; 0 is due already. */
  readonly inMinutes: number;
}

export async function closeCapsules(db: Pool, { count, perMinute, damaged, inMinutes }: Capsules): Promise<void> {
  await db.query(users, [count]);
  await db.query(capsules, [count, perMinute, damaged, inMinutes]);
  await db.query(members, [count]);
}

/** Real time before the first capsule's; a mail that hangs does so for 10 s. */
const mailsAheadMs = 4_000;

/**
 * A mail in each worker that the openings have, a moment before the first capsule opens. One by one: a batch of mails
 * would hang in one worker, and the cap of mails keeps a second batch out.
 */
export async function mailsAhead({ api, system }: ExampleSystem, scale: number): Promise<void> {
  const { row, topology } = system;
  const answer = async (query: string, values: readonly unknown[]): Promise<boolean> =>
    (await row<{ is: boolean | null }>(query, values)).is ?? false;
  await until("the first capsule's time to be near", 120_000, () =>
    answer("select min(opens_at) <= belfry.now() + belfry.span($1) as is from time_capsule.capsule", [
      mailsAheadMs * scale,
    ]),
  );
  const workers = topology.lanes.find(({ name }) => name === "openings")?.concurrency ?? 0;
  const at = "2026-01-01T00:00:00Z";
  for (let n = 1; n <= workers; n += 1) {
    const payload = {
      to: `ahead-${n}@post.example`,
      userName: "A",
      capsuleId: "0",
      title: "x",
      closedAt: at,
      openedAt: at,
    };
    // Through the API, whose process knows the lane of a mail as the workers do.
    const made = await fetch(`${api}/jobs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ kind: "send-open-mail", payload }),
    });
    if (!made.ok) throw new Error(`a mail was refused: ${await made.text()}`);
    const { id } = (await made.json()) as { id: string };
    await until("the mail to be tried", 10_000, () =>
      answer("select attempt > 0 as is from belfry.job where id = $1", [id]),
    );
  }
}

/** Milliseconds from each capsule's time to its opening, sorted; capsules that are closed are left out. */
export async function openings(db: Pool, scale: number): Promise<readonly number[]> {
  const { rows } = await db.query<{ late: number }>(
    "select (extract(epoch from opened_at - opens_at) * 1000)::float8 as late from time_capsule.capsule where opened_at is not null order by 1",
  );
  return rows.map(({ late }) => late / scale);
}

/** Milliseconds that each of the bystander's jobs started late, sorted, from the first capsule's time on: before, the system starts. */
export async function bystanders(db: Pool, scale: number): Promise<readonly number[]> {
  const { rows } = await db.query<{ late: number }>(
    `select lateness_ms::float8 as late from belfry.occurrence where schedule_id = 'bystander-often' and outcome = 'FIRED'
       and nominal_at >= (select min(opens_at) from time_capsule.capsule) order by 1`,
  );
  return rows.map(({ late }) => late / scale);
}

export const quantile = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.ceil((sorted.length - 1) * share)] ?? Number.POSITIVE_INFINITY);

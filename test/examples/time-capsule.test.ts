import { readFileSync } from "node:fs";
import type { Tx } from "belfry";
import { createTestSystem } from "belfry/testing";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import app from "../../examples/time-capsule/app.ts";
import { openCapsule } from "../../examples/time-capsule/capsule.ts";
import {
  emailOf,
  input,
  isDamaged,
  membersOf,
  treatmentByDomain,
  treatmentOf,
  wantsEmail,
} from "../../examples/time-capsule/input.ts";
import { recordTry } from "../../examples/time-capsule/mail-log.ts";
import { routes } from "../../examples/time-capsule/routes.ts";
import { seed } from "../../examples/time-capsule/seed.ts";
import { written } from "../../examples/time-capsule/mail.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";

const sql = readFileSync(
  new URL("../../examples/time-capsule/migrations/0001_time_capsule.sql", import.meta.url),
  "utf8",
);

async function seeded(): Promise<TestDatabase> {
  const database = await testDatabase({ own: true });
  // As a process of the API has it.
  vi.stubEnv("DATABASE_URL", database.url);
  vi.stubEnv("AWS_REGION", "us-east-1");
  onTestFinished(() => void vi.unstubAllEnvs());
  await database.pool.query(sql);
  await seed(database.pool, input);
  return database;
}

const inTransaction = <T>({ store }: TestDatabase, work: (tx: Tx) => Promise<T>): Promise<T> => store.transaction(work);

/** A user's stream as a page has it that saw the notification `after` last. */
async function streamOf(user: number, after?: string): Promise<ReadableStream<Uint8Array>> {
  const headers: Record<string, string> = after === undefined ? {} : { "last-event-id": after };
  const { body } = await routes.request(`/notifications/stream?user=${user}`, { headers });
  if (body === null) throw new Error("the stream has no body");
  return body;
}

/** So many chunks; the reader then goes away. */
async function take(stream: ReadableStream<Uint8Array>, count: number): Promise<readonly string[]> {
  const taken: string[] = [];
  for await (const chunk of stream) {
    taken.push(Buffer.from(chunk).toString("utf8"));
    if (taken.length === count) break;
  }
  return taken;
}

/** Of the first events; before them stands how soon a page shall come back. */
async function readIds(stream: ReadableStream<Uint8Array>, count: number): Promise<readonly string[]> {
  const chunks = await take(stream, count + 1);
  return chunks.flatMap((chunk) => /^id: (.+)$/m.exec(chunk)?.slice(1) ?? []);
}

test("an opened capsule notifies each member once, and one that is open already notifies no member", async () => {
  const database = await seeded();
  const members = membersOf(2, input.users).map(String);
  const first = await inTransaction(database, (tx) => openCapsule(tx, "2"));
  expect(first?.notified.map(({ userId }) => userId)).toEqual(members);
  expect(first?.notified[0]).toMatchObject({ name: `User ${members[0]}`, email: emailOf(Number(members[0])) });
  expect(await inTransaction(database, (tx) => openCapsule(tx, "2"))).toBeNull();
  const { rows } = await database.pool.query("select count(*)::int as count from time_capsule.notification");
  expect(rows).toEqual([{ count: members.length }]);
});

test("a damaged capsule is refused and stays closed", async () => {
  const database = await seeded();
  expect(isDamaged(5)).toBe(true);
  await expect(inTransaction(database, (tx) => openCapsule(tx, "5"))).rejects.toThrow("capsule 5 is damaged");
  const { rows } = await database.pool.query("select opened_at from time_capsule.capsule where id = 5");
  expect(rows).toEqual([{ opened_at: null }]);
});

test("capsules of the same people that open at once neither deadlock nor share a number", async () => {
  const database = await seeded();
  const { pool } = database;
  await pool.query("truncate time_capsule.member");
  await pool.query(
    "insert into time_capsule.member select c, u from generate_series(6, 25) c, generate_series(1, 20) u",
  );
  const ids = Array.from({ length: 20 }, (_, index) => String(index + 6)).filter((id) => !isDamaged(Number(id)));
  await Promise.all(ids.map((id) => inTransaction(database, (tx) => openCapsule(tx, id))));
  const { rows } = await pool.query(
    "select count(distinct n)::int as n, max(n)::int as last from time_capsule.notification where user_id = 7",
  );
  expect(rows).toEqual([{ n: ids.length, last: ids.length }]);
});

test("a stream begins where the last one ended, and hears of news", async () => {
  const database = await seeded();
  const [user = 0] = membersOf(2, input.users);
  await database.pool.query("insert into time_capsule.member values (3, $1), (4, $1) on conflict do nothing", [user]);
  for (const capsule of ["2", "3"]) await inTransaction(database, (tx) => openCapsule(tx, capsule));
  expect(await readIds(await streamOf(user), 2)).toEqual(["1", "2"]);
  const reading = readIds(await streamOf(user, "1"), 2);
  await inTransaction(database, (tx) => openCapsule(tx, "4"));
  expect(await reading).toEqual(["2", "3"]);
  const refused = await routes.request("/notifications/stream?user=x", { headers: { "last-event-id": "y" } });
  expect([refused.status, await refused.json()]).toMatchObject([422, { fields: { user: [{}], after: [{}] } }]);
});

test("a capsule that cannot be stored is refused with every wrong field", async () => {
  const refused = async (body: string) => {
    const answer = await routes.request("/capsules", { method: "POST", body });
    expect(answer.status).toBe(422);
    return Object.keys(((await answer.json()) as { fields: object }).fields);
  };
  const all = ["user", "title", "content", "open_at"];
  expect(await refused(JSON.stringify({ user: "x", title: "a\0", content: "\0", open_at: "soon" }))).toEqual(all);
  for (const body of ["{{", "null", "{}"]) expect(await refused(body)).toEqual(all);
});

test("a mail has its text, its HTML with a link, both dates and the days between, and what people wrote is escaped", () => {
  const mail = written({
    to: "ada@post.example",
    userName: "Ada <b>",
    capsuleId: "7",
    title: "To me & you",
    closedAt: "2026-03-08T11:13:00.000Z",
    openedAt: "2026-03-18T11:13:00.000Z",
  });
  expect(mail.subject).toBe('[Time capsule] "To me & you" is open');
  for (const part of [mail.text, mail.html]) {
    for (const word of ["/timecapsule/7", "10 days ago", "2026-03-08 11:13 UTC", "2026-03-18 11:13 UTC"])
      expect(part).toContain(word);
  }
  expect(mail.html).toContain("Dear Ada &#60;b&#62;, you closed <b>To me &#38; you</b>");
});

test("a notification has a type, a title, its content and the capsule that it is about", async () => {
  const database = await seeded();
  const [user = 0] = membersOf(2, input.users);
  await inTransaction(database, (tx) => openCapsule(tx, "2"));
  const [, event = ""] = await take(await streamOf(user), 2);
  const [id, name, data = ""] = event.split("\n");
  expect([id, name]).toEqual(["id: 1", "event: time-capsule"]);
  expect(JSON.parse(data.slice("data: ".length))).toMatchObject({
    type: "TIME_CAPSULE",
    title: "A time capsule is open",
    relatedId: "2",
  });
});

test("each attempt of a mail has one line, however often it is reported", async () => {
  const database = await seeded();
  const tried = {
    jobId: "7",
    attempt: 1,
    outcome: "LOST",
    final: false,
    error: { code: "WORKER_LOST", message: "gone" },
  } as const;
  const settled = { ...tried, jobId: tried.jobId as Parameters<typeof recordTry>[2]["jobId"] };
  for (let n = 0; n < 2; n++) await inTransaction(database, (tx) => recordTry(tx, "a@post.example", settled));
  const { rows } = await database.pool.query("select attempt, outcome, error_code from time_capsule.mail_log");
  expect(rows).toEqual([{ attempt: 1, outcome: "LOST", error_code: "WORKER_LOST" }]);
});

test("a mail that no server takes is tried three times, a second and two seconds apart, and each attempt has its line", async () => {
  // The port of a server that is gone.
  const secrets = { TIME_CAPSULE_SMTP_URL: "smtp://127.0.0.1:1" };
  const at = "2031-05-01T10:00:30Z";
  await using system = await createTestSystem({ apps: [app], at, databaseUrl: inject("postgresUrl"), secrets });
  await seed(system.database, { users: 30, capsules: 1, perMinute: 1 });
  await system.advance("5m");
  const text = `select status, retry_count, extract(epoch from created_at - lag(created_at) over (order by id))::float8 as waited
    from time_capsule.email_log where email = $1 order by id`;
  const user = membersOf(1, 30).find(wantsEmail) ?? 0;
  type Line = Readonly<{ status: string; retry_count: number; waited: number | null }>;
  const { rows } = await system.database.query<Line>(text, [emailOf(user)]);
  expect(rows).toEqual([
    { status: "FAIL", retry_count: 0, waited: null },
    { status: "FAIL", retry_count: 1, waited: 1 },
    { status: "FAIL", retry_count: 2, waited: 2 },
  ]);
});

test("the fake can tell from an address how its user is treated", () => {
  const users = Array.from({ length: input.users }, (_, index) => index + 1);
  expect(users.filter((user) => treatmentByDomain(emailOf(user)) !== treatmentOf(user))).toEqual([]);
  expect(new Set(users.map(treatmentOf)).size).toBe(5);
});

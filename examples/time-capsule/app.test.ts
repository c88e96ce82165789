import { createTestSystem } from "belfry/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { readCopy, readLedger } from "../fake/ledger.ts";
import { type FakeProcess, startFake } from "../fake/start.ts";
import app from "./app.ts";
import { emailOf, isDamaged, membersOf, wantsEmail } from "./input.ts";
import { seed } from "./seed.ts";

let server: FakeProcess;
beforeAll(async () => {
  server = await startFake(new URL("./fakes/mail-server.ts", import.meta.url));
});
afterAll(() => server.stop());

const byText = (a: string, b: string): number => a.localeCompare(b);

test("capsules open at their minute: one notification a member, one mail to who wants it, and a damaged one says so", async () => {
  const size = { users: 10, capsules: 9, perMinute: 3 };
  await using system = await createTestSystem({
    apps: [app],
    at: "2031-05-01T10:00:30Z",
    databaseUrl: inject("postgresUrl"),
    secrets: server.env,
  });
  await seed(system.database, size, 2);
  const select = async (text: string) => (await system.database.query<{ it: unknown }>(text)).rows.map(({ it }) => it);
  const opened = () => select("select id::int as it from time_capsule.capsule where opened_at is not null order by id");
  await system.advance({ to: "2031-05-01T10:01:59Z" });
  expect(await opened()).toEqual([]);
  await system.advance({ to: "2031-05-01T10:02:30Z" });
  expect(await opened()).toEqual([1, 2, 3]);
  await system.advance({ to: "2031-05-01T10:05:30Z" });
  const whole = [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((capsule) => !isDamaged(capsule));
  expect(await opened()).toEqual(whole);
  const members = whole.flatMap((capsule) => membersOf(capsule, size.users));
  const notified = await select("select user_id::int as it from time_capsule.notification order by 1");
  expect(notified).toEqual(members.toSorted((a, b) => a - b));
  const mails = readLedger(server.home, "time-capsule-mail").filter(({ outcome }) => outcome === "stored");
  const wanted = members.filter((user) => wantsEmail(user) && user !== 7);
  expect(mails.map((mail) => String(mail["to"])).toSorted(byText)).toEqual(wanted.map(emailOf).toSorted(byText));
  for (const { key } of mails) expect(readCopy(server.home, key, "eml")).toMatch(/To: user-[^]+<h1>A time capsule/);
  const failed = await select("select distinct kind as it from belfry.job where state = 'FAILED' order by 1");
  // The damaged capsule, and the mailbox that does not exist.
  expect(failed).toEqual(["open-capsule", "send-open-mail"]);
});

import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import * as example from "../../examples/batch-scheduler/input.ts";
import { type Entry, ledgerFile } from "../../examples/fake/ledger.ts";
import { seed } from "../../examples/batch-scheduler/seed.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { batchScheduler } from "./batch-scheduler.ts";
import type { Evidence } from "./judge.ts";

const { input, messageKey, messageTreatment, filePath, fileTreatment, fileContent } = example;
const publisher = "batch-scheduler-publisher";
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const kept = mkdtempSync(join(tmpdir(), "belfry-judge-"));
let database: TestDatabase;
afterAll(async () => {
  rmSync(kept, { recursive: true });
  await database.close();
});

/** A run in which all went as promised, without running anything. */
beforeAll(async () => {
  database = await freshDatabase({ own: true });
  for (const file of ["0001_outbox", "0002_external_file"]) {
    const url = new URL(`../../examples/batch-scheduler/migrations/${file}.sql`, import.meta.url);
    await database.pool.query(readFileSync(url, "utf8"));
  }
  await seed(database.pool);
  await finishMessages(database.pool, kept);
  await finishFiles(database.pool, kept);
  await reportRun(database.pool);
});

/** What it left, which a test may change: for that test alone. */
async function perfectRun(): Promise<Evidence> {
  const ledgers = mkdtempSync(join(tmpdir(), "belfry-judge-"));
  cpSync(kept, ledgers, { recursive: true });
  // Of one connection, whose transaction is that of the test.
  const db = new Pool({ connectionString: database.url, max: 1 });
  onTestFinished(async () => {
    rmSync(ledgers, { recursive: true });
    await db.end();
  });
  await db.query("begin");
  return { db, ledgers };
}

function write(ledgers: string, name: string, lines: readonly Pick<Entry, "key" | "outcome">[]): void {
  const text = lines.map((line) => `${JSON.stringify({ at: "2026-11-21T08:00:00Z", ...line })}\n`);
  writeFileSync(ledgerFile(ledgers, name), text.join(""));
}

async function finishMessages(db: Evidence["db"], ledgers: string): Promise<void> {
  const rows: { key: string; state: string; attempts: number }[] = [];
  const rounds: { key: string; outcome: Entry["outcome"] }[][] = [[], [], []];
  for (const n of numbers(input.messages)) {
    const [key, treatment] = [messageKey(n), messageTreatment(n)];
    const tries = {
      accepted: ["accepted"],
      "refused once": ["refused", "accepted"],
      "refused always": ["refused", "refused", "refused"],
    };
    for (const [round, outcome] of tries[treatment].entries()) {
      rounds[round]?.push({ key, outcome });
    }
    rows.push({
      key,
      state: treatment === "refused always" ? "FAILED" : "PUBLISHED",
      attempts: tries[treatment].length,
    });
  }
  await db.query(
    `update batch_scheduler.outbox set state = done.state, attempts = done.attempts, finished_at = now()
     from jsonb_to_recordset($1) as done (key text, state text, attempts int) where outbox.key = done.key`,
    [JSON.stringify(rows)],
  );
  write(ledgers, publisher, rounds.flat());
}

async function finishFiles(db: Evidence["db"], ledgers: string): Promise<void> {
  const lines: { key: string; outcome: Entry["outcome"] }[] = [];
  for (const n of numbers(input.files)) {
    const [key, treatment] = [filePath(n), fileTreatment(n)];
    const isFailed = treatment === "gone" || treatment === "refused always";
    const attempts = { accepted: 1, "refused once": 2, "cut off once": 2, gone: 1, "refused always": 3 }[treatment];
    if (treatment === "cut off once") lines.push({ key, outcome: "cut off" });
    if (!isFailed) lines.push({ key, outcome: "accepted" });
    await db.query(
      `update batch_scheduler.external_file set state = $2, attempts = $3, answer = $4, finished_at = now()
       where path = $1`,
      [key, isFailed ? "FAILED" : "DOWNLOADED", attempts, isFailed ? null : fileContent(n)],
    );
  }
  write(ledgers, "batch-scheduler-files", lines);
}

const job = `
  insert into belfry.job (kind, payload, lane, state, event_id, due_at, max_attempts, lease_ms, retention_ms, trace,
    created_at, finished_at, error_code, result)
  select 'outbox-retry', 'null', 'default', $1::belfry.job_state, 0, now(), 4, 20000, 1000, 't', now(), now(),
    case $1 when 'FAILED' then 'BROKEN' end,
    (select jsonb_build_object('processed', sum(attempts), 'succeeded', count(*) filter (where done))
     from (select attempts, state = 'PUBLISHED' as done from batch_scheduler.outbox
       union all select attempts, state = 'DOWNLOADED' from batch_scheduler.external_file) as item)`;

const reportRun = async (db: Evidence["db"]): Promise<unknown> => await db.query(job, ["SUCCESS"]);

const failedChecks = async (evidence: Evidence): Promise<readonly string[]> =>
  (await batchScheduler.checks(evidence)).filter((check) => !check.pass).map((check) => check.name);

/** Rewrites the publisher's ledger. */
function edit({ ledgers }: Evidence, change: (lines: string[]) => string[]): void {
  const file = ledgerFile(ledgers, publisher);
  writeFileSync(
    file,
    change(readFileSync(file, "utf8").split("\n").slice(0, -1))
      .map((line) => `${line}\n`)
      .join(""),
  );
}

const line = (key: string, outcome: Entry["outcome"]): string =>
  JSON.stringify({ at: "2026-11-21T08:00:00Z", key, outcome });
const accepted = messageKey(301);

const tampering: readonly [what: string, named: RegExp, tamper: (evidence: Evidence) => Promise<unknown> | void][] = [
  [
    "a good message never arrived",
    /every good message/,
    (evidence) => edit(evidence, (lines) => lines.filter((each) => each !== line(accepted, "accepted"))),
  ],
  [
    "a bad message was given up too early",
    /always refused is FAILED/,
    async ({ db }) => await db.query("update batch_scheduler.outbox set attempts = 2 where key = $1", [messageKey(1)]),
  ],
  [
    "the oldest were tried again before the others' turn",
    /starve/,
    (evidence) =>
      edit(evidence, (lines) => [line(messageKey(1), "refused"), line(messageKey(1), "refused"), ...lines.slice(2)]),
  ],
  [
    "something arrived that no job wrote",
    /nothing arrived/,
    ({ ledgers }) => appendFileSync(ledgerFile(ledgers, publisher), `${line("order-999999", "accepted")}\n`),
  ],
  [
    "a file was cut short",
    /DOWNLOADED whole/,
    async ({ db }) =>
      await db.query("update batch_scheduler.external_file set answer = 'x' where path = $1", [filePath(1)]),
  ],
  [
    "a file that is gone was asked for again and again",
    /gone is FAILED/,
    async ({ db }) =>
      await db.query("update batch_scheduler.external_file set attempts = 3 where path = $1", [filePath(7)]),
  ],
  ["a run reported what did not happen", /adds up/, async ({ db }) => await reportRun(db)],
  ["a run FAILED", /every run ended/, async ({ db }) => await db.query(job, ["FAILED"])],
];

test("the judge finds nothing wrong with a run that went as promised", async () => {
  const evidence = await perfectRun();
  expect(await failedChecks(evidence)).toEqual([]);
  expect(await batchScheduler.progress(evidence)).toMatchObject({ done: true });
});

test.each(tampering)("the judge sees when %s", async (_, named, tamper) => {
  const evidence = await perfectRun();
  await tamper(evidence);
  expect(await failedChecks(evidence)).toContainEqual(expect.stringMatching(named));
});

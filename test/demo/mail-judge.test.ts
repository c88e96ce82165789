import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { emailOf } from "../../examples/time-capsule/input.ts";
import { freshDatabase } from "../support/database.ts";
import { timeCapsule } from "./time-capsule.ts";

const sql = readFileSync(
  new URL("../../examples/time-capsule/migrations/0001_time_capsule.sql", import.meta.url),
  "utf8",
);
const lateUser = 41;
const logCheck = "the mail log has one line for each try that ended";
const endCheck = "each mail ended as its server treats mails";

/** A mail that was given back, lost with another one, lost alone, and answered too late twice. */
const planted = `
  with mail as (
    insert into belfry.job (kind, payload, lane, state, event_id, due_at, attempt, failures, max_attempts, lease_ms,
      retention_ms, trace, created_at, finished_at, error_code, key)
    select 'send-open-mail', jsonb_build_object('to', $1::text), 'mail', 'FAILED', 0, now(), 5, 3, 3, 20000, 1000, 't', now(), now(),
      'TIMEOUT', '2:41' returning id
  ), moved as (
    insert into belfry.history (at, job_id, from_state, to_state, attempt, generation, reason)
    select now(), mail.id, 'RUNNING', state::belfry.job_state, n, n, reason
    from mail, (values (1, 'QUEUED', 'stopped'), (2, 'QUEUED', 'lost'), (3, 'RETRY_WAIT', 'lost'),
      (4, 'RETRY_WAIT', 'retry'), (5, 'FAILED', 'attempts used up')) as v (n, state, reason)
  )
  insert into time_capsule.mail_log (job_id, attempt, recipient, outcome, at)
  select mail.id, n, $1, outcome, now()
  from mail, (values (2, 'LOST'), (3, 'LOST'), (4, 'FAILED'), (5, 'FAILED')) as v (n, outcome)`;

test("the judge of the mails wants a line for each try that ended, and three failures of a mail that is given up", async () => {
  const database = await freshDatabase({ own: true });
  onTestFinished(() => database.close());
  await database.pool.query(sql);
  await database.pool.query(planted, [emailOf(lateUser)]);
  const ledgers = mkdtempSync(join(tmpdir(), "belfry-judge-"));
  onTestFinished(() => rmSync(ledgers, { recursive: true, force: true }));
  const failed = async (): Promise<readonly string[]> => {
    const checks = await timeCapsule.checks({ db: database.pool, ledgers });
    return checks.filter(({ name, pass }) => !pass && [logCheck, endCheck].includes(name)).map(({ name }) => name);
  };
  expect(await failed()).toEqual([]);
  await database.pool.query("update belfry.job set failures = 2");
  expect(await failed()).toEqual([endCheck]);
  await database.pool.query("delete from time_capsule.mail_log where attempt = 3");
  expect(await failed()).toEqual([endCheck, logCheck]);
});

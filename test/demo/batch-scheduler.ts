import {
  fileContent,
  filePath,
  fileTreatment,
  input,
  messageKey,
  messageTreatment,
} from "../../examples/batch-scheduler/input.ts";
import { readLedger } from "../../examples/fake/ledger.ts";
import { type Check, type Evidence, type Judge, noneOf, timed } from "./judge.ts";
import { type Tally, tally } from "./tally.ts";

const triesMax = 3;
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);
const messages = numbers(input.messages).map((n) => ({ key: messageKey(n), treatment: messageTreatment(n) }));
const files = numbers(input.files).map((n) => ({ n, path: filePath(n), treatment: fileTreatment(n) }));
const good = messages.filter(({ treatment }) => treatment !== "refused always");
const bad = messages.filter(({ treatment }) => treatment === "refused always");

export const batchScheduler: Judge = {
  name: "batch-scheduler",
  kinds: ["outbox-retry", "external-download-retry"],
  schedules: ["outbox-retry", "external-download-retry"],
  async progress({ db }) {
    const { rows } = await db.query<{ published: number; failed: number; waiting: number; files: number }>(`
      select (select count(*)::int from batch_scheduler.outbox where state = 'PUBLISHED') as published,
        (select count(*)::int from batch_scheduler.outbox where state = 'FAILED') as failed,
        (select count(*)::int from batch_scheduler.outbox where state = 'PENDING') as waiting,
        (select count(*)::int from batch_scheduler.external_file where state = 'PENDING') as files`);
    const { published = 0, failed = 0, waiting = 1, files: filesLeft = 1 } = rows[0] ?? {};
    const line = `${published} published, ${failed} given up, ${waiting} messages and ${filesLeft} files left`;
    const running = await unsettled(db);
    return { done: waiting === 0 && filesLeft === 0 && running === 0, line };
  },
  async checks(evidence) {
    return [...(await messageChecks(evidence)), ...(await fileChecks(evidence)), ...(await jobChecks(evidence))];
  },
};

const publisherTally = (ledgers: string): Tally => tally(readLedger(ledgers, "batch-scheduler-publisher"));

interface Row {
  readonly state: string;
  readonly attempts: number;
  readonly answer: string | null;
}

async function readRows({ db }: Evidence, sql: string): Promise<ReadonlyMap<string, Row>> {
  const { rows } = await db.query<Row & { key: string }>(sql);
  return new Map(rows.map((row) => [row.key, row]));
}

async function messageChecks(evidence: Evidence): Promise<readonly Check[]> {
  const rows = await readRows(evidence, "select key, state, attempts, null as answer from batch_scheduler.outbox");
  const ledger = publisherTally(evidence.ledgers);
  const keysOf = (list: typeof messages, isWrong: (key: string) => boolean): readonly string[] =>
    list.map(({ key }) => key).filter(isWrong);
  const once = good.filter(({ treatment }) => treatment === "refused once");
  const known = new Set(messages.map(({ key }) => key));
  return [
    noneOf(
      "every good message was taken by the queue and is PUBLISHED",
      keysOf(good, (key) => ledger.count(key, "accepted") === 0 || rows.get(key)?.state !== "PUBLISHED"),
      `${good.length} messages, ${ledger.repeats} repeated`,
    ),
    noneOf(
      "a message refused once is published by a later try",
      keysOf(once, (key) => ledger.count(key, "refused") !== 1 || (rows.get(key)?.attempts ?? 0) < 2),
      `${once.length} messages`,
    ),
    noneOf(
      `a message that is always refused is FAILED after ${triesMax} tries and never arrives`,
      keysOf(bad, (key) => {
        const row = rows.get(key);
        const wasTried = ledger.count(key, "refused") >= triesMax && ledger.count(key, "accepted") === 0;
        return !wasTried || row?.state !== "FAILED" || row.attempts !== triesMax;
      }),
      `${bad.length} messages, the ${input.oldestRefused} oldest among them`,
    ),
    {
      name: "the oldest starve no other: each message was tried once before any was tried again",
      pass: ledger.isFair,
      detail: `${messages.length} messages`,
    },
    noneOf(
      "nothing arrived that was not written",
      ledger.keys("accepted").filter((key) => !known.has(key)),
      "0 strangers",
    ),
  ];
}

async function fileChecks(evidence: Evidence): Promise<readonly Check[]> {
  const rows = await readRows(
    evidence,
    "select path as key, state, attempts, answer from batch_scheduler.external_file",
  );
  const ledger = tally(readLedger(evidence.ledgers, "batch-scheduler-files"));
  const pathsOf = (list: typeof files, isWrong: (file: (typeof files)[number], row: Row | undefined) => boolean) =>
    list.filter((file) => isWrong(file, rows.get(file.path))).map(({ path }) => path);
  const gone = files.filter(({ treatment }) => treatment === "gone");
  const refused = files.filter(({ treatment }) => treatment === "refused always");
  const fetched = files.filter(({ treatment }) => treatment !== "gone" && treatment !== "refused always");
  const cut = fetched.filter(({ treatment }) => treatment === "cut off once");
  return [
    noneOf(
      "every file that can be had is DOWNLOADED whole",
      pathsOf(fetched, ({ n, path }, row) => {
        const isWhole = row?.state === "DOWNLOADED" && row.answer === fileContent(n);
        return !isWhole || ledger.count(path, "accepted") === 0;
      }),
      `${fetched.length} files, ${ledger.repeats} repeated`,
    ),
    noneOf(
      "an answer that ends in the middle is fetched again",
      pathsOf(cut, ({ path }, row) => ledger.count(path, "cut off") !== 1 || (row?.attempts ?? 0) < 2),
      `${cut.length} files`,
    ),
    noneOf(
      "a file that is gone is FAILED after one try, a server that always refuses after its tries",
      [
        ...pathsOf(gone, (_, row) => row?.state !== "FAILED" || row.attempts !== 1),
        ...pathsOf(refused, (_, row) => row?.state !== "FAILED" || row.attempts !== triesMax),
      ],
      `${gone.length} gone, ${refused.length} refused`,
    ),
  ];
}

const unsettledJobs = `
  select count(*)::int as count from belfry.job where kind = any($1) and state in ('RUNNING', 'RETRY_WAIT')`;

async function unsettled(db: Evidence["db"]): Promise<number> {
  const { rows } = await db.query<{ count: number }>(unsettledJobs, [batchScheduler.kinds]);
  return rows[0]?.count ?? 0;
}

const reportedTotals = `
  select coalesce(sum((result ->> 'processed')::int), 0)::int as processed,
    coalesce(sum((result ->> 'succeeded')::int), 0)::int as succeeded
  from belfry.job where kind = any($1) and state = 'SUCCESS'`;
const writtenTotals = `
  select coalesce(sum(attempts), 0)::int as processed, (count(*) filter (where done))::int as succeeded
  from (select attempts, state = 'PUBLISHED' as done from batch_scheduler.outbox
    union all select attempts, state = 'DOWNLOADED' from batch_scheduler.external_file) as item`;
/** A try that was cut off worked on items and reported nothing: then the books may say less than the tables. */
const cutOff = `
  select count(*)::int as count from belfry.attempt
  where outcome <> 'SUCCESS' and job_id in (select id from belfry.job where kind = any($1))`;
const wrongJobs = `
  select format('job %s %s %s', id, state, coalesce(error_message, reason_of_skip)) as named
  from (select job.*, (select reason from belfry.history where job_id = job.id order by history.id desc limit 1) as reason_of_skip
    from belfry.job) as job
  where kind = any($1)
    and (state in ('FAILED', 'CANCELED') or (state = 'SKIPPED' and reason_of_skip not in ('overlap', 'lock-held')))`;
/** Where a rule starts a task for each time, as on AWS, the start takes most of a minute. */
const undecided = `
  select format('%s at %s', schedule_id, nominal_at) as named from belfry.occurrence
  where schedule_id = any($1) and outcome = 'PLANNED' and nominal_at < belfry.now() - interval '2 minutes'`;

async function jobChecks({ db }: Evidence): Promise<readonly Check[]> {
  const [claimed] = (await db.query<Totals>(reportedTotals, [batchScheduler.kinds])).rows;
  const [stored] = (await db.query<Totals>(writtenTotals)).rows;
  const lost = (await db.query<{ count: number }>(cutOff, [batchScheduler.kinds])).rows[0]?.count ?? 0;
  const wrong = (await db.query<{ named: string }>(wrongJobs, [batchScheduler.kinds])).rows.map(({ named }) => named);
  const late = (await db.query<{ named: string }>(undecided, [batchScheduler.schedules])).rows.map(
    ({ named }) => named,
  );
  return [
    {
      name: "what the runs reported adds up to what the tables say",
      pass: addsUp(claimed, stored, lost),
      detail: `reported ${totalsText(claimed)}, written ${totalsText(stored)}, ${lost} runs cut off`,
    },
    noneOf("every run ended SUCCESS, or was SKIPPED because the one before was still going", wrong, "no other end"),
    timed(noneOf("no nominal time that has passed is undecided", late, "none")),
  ];
}

interface Totals {
  readonly processed: number;
  readonly succeeded: number;
}

function addsUp(reported: Totals | undefined, stored: Totals | undefined, lost: number): boolean {
  if (reported === undefined || stored === undefined) return false;
  const isSame = reported.processed === stored.processed && reported.succeeded === stored.succeeded;
  const isLess = reported.processed <= stored.processed && reported.succeeded <= stored.succeeded;
  return isSame || (lost > 0 && isLess);
}

const totalsText = (totals: Totals | undefined): string =>
  `${totals?.processed ?? 0} tries, ${totals?.succeeded ?? 0} succeeded`;

import { create, requests, type Request } from "../../examples/taskflow/requests.ts";
import { type Entry, readLedger } from "../../examples/fake/ledger.ts";
import { TooSlow } from "./too-slow.ts";
import { type Check, type Evidence, type Judge, noneOf } from "./judge.ts";

/** Each request is sent this often at once, as an impatient client does. */
const sendings = 3;
/** Requests on their way at once; each is sent several times. */
const inFlight = 8;

interface Row {
  readonly id: string;
  readonly key: string;
  readonly state: string;
  readonly attempt: number;
  readonly failures: number;
  readonly codes: readonly string[];
  readonly reports: number;
}

const rowsOf = `
  select id::text, key, state::text, attempt, failures,
    array(select coalesce(error_code, status) from taskflow.job_attempts a where a.job_id = j.id order by a.attempt_no) as codes,
    (select count(*)::int from taskflow.report r where r.job_id = j.id) as reports
  from belfry.job j where kind = 'taskflow-job' and key like $1 || '%' order by id`;

const endedOf = `
  select count(*)::int as ended from belfry.job
  where kind = 'taskflow-job' and key like $1 || '%' and state in ('SUCCESS', 'FAILED', 'CANCELED')`;

/** What was done beside the requests. */
export interface Beside {
  /** What every key begins with: a system that runs has other jobs too. */
  readonly prefix: string;
  /** Keys whose cancel was answered with yes. */
  readonly canceled: ReadonlySet<string>;
}

const alone: Beside = { prefix: "report:", canceled: new Set() };

/** What must become of a request, as its row shows it. On a busy machine a try may also end by its timeout or be lost. */
const expected: Readonly<Record<Request["type"], (row: Row) => boolean>> = {
  succeed: ({ state, reports, codes }) => state === "SUCCESS" && reports === 1 && countOf(codes, "HTTP_503") === 0,
  flaky: ({ state, reports, codes }) => state === "SUCCESS" && reports === 1 && codes.includes("HTTP_503"),
  rejected: ({ state, reports, codes }) => state === "FAILED" && reports === 0 && countOf(codes, "HTTP_422") === 1,
  hang: ({ state, reports, codes }) => state === "FAILED" && reports === 0 && codes.includes("TIMEOUT"),
  die: ({ state, reports, codes }) => state === "SUCCESS" && reports === 1 && codes.includes("WORKER_LOST"),
};

const countOf = (list: readonly string[], word: string): number => list.filter((each) => each === word).length;

export const taskflow: Judge = taskflowJudge(requests(50));

/** Judges what became of these requests. */
export function taskflowJudge(asked: readonly Request[], beside: Beside = alone): Judge {
  const read = async ({ db }: Evidence) => (await db.query<Row>(rowsOf, [beside.prefix])).rows;
  return {
    name: "taskflow",
    kinds: ["taskflow-job"],
    schedules: [],
    begin: (api) => sendAll(api, asked),
    async progress({ db }) {
      const { rows } = await db.query<{ ended: number }>(endedOf, [beside.prefix]);
      const ended = rows[0]?.ended ?? 0;
      return { done: ended === asked.length, line: `${ended} of ${asked.length} jobs have ended` };
    },
    async checks(evidence) {
      const rows = await read(evidence);
      const { canceled } = beside;
      return [
        noneOf(
          "every request has exactly one job, although it was repeated",
          keysOff(asked, rows),
          `${asked.length} keys`,
        ),
        ...byType(
          asked.filter(({ job_key: key }) => !canceled.has(key)),
          new Map(rows.map((row) => [row.key, row])),
        ),
        ...canceledChecks(rows, beside),
        ...published(rows, evidence, beside),
      ];
    },
  };
}

async function sendAll(api: string, asked: readonly Request[]): Promise<void> {
  const statuses: number[] = [];
  for (let from = 0; from < asked.length; from += inFlight) {
    const sent = asked
      .slice(from, from + inFlight)
      .flatMap((one) => Array.from({ length: sendings }, () => create(api, one)));
    statuses.push(...(await Promise.all(sent)).map(({ status }) => status));
  }
  const bad = statuses.filter((status) => status !== 200 && status !== 201);
  if (bad.length === 0) return;
  const text = `taskflow answered ${bad.length} of ${statuses.length} requests with an error (${[...new Set(bad)].join(", ")})`;
  // The client gave up after its ten sendings. A 500 is a defect on any machine, and a refusal is no matter of time.
  throw bad.every((status) => status > 500 || status === 0) ? new TooSlow(text) : new Error(text);
}

function keysOff(asked: readonly Request[], rows: readonly Row[]): readonly string[] {
  const jobs = Map.groupBy(rows, ({ key }) => key);
  const wrong = asked.filter(({ job_key: key }) => jobs.get(key)?.length !== 1).map(({ job_key: key }) => key);
  const known = new Set(asked.map(({ job_key: key }) => key));
  return [...wrong, ...[...jobs.keys()].filter((key) => !known.has(key))];
}

/** Of the types that were asked for. */
function byType(asked: readonly Request[], rows: ReadonlyMap<string, Row>): readonly Check[] {
  const words: Readonly<Record<Request["type"], string>> = {
    succeed: "one that succeeds is SUCCESS with one report",
    flaky: "one that is refused for a while is SUCCESS by a later try",
    rejected: "one that is rejected is FAILED at once, with HTTP_422",
    hang: "one that hangs is FAILED by its timeout, after its tries",
    die: "one that takes its process down is SUCCESS after WORKER_LOST",
  };
  const types = Map.groupBy(asked, ({ type }) => type);
  return [...types].map(([type, mine]) => {
    const wrong = mine.filter(({ job_key: key, type: kind }) => {
      const row = rows.get(key);
      return row === undefined || !expected[kind](row);
    });
    return noneOf(
      words[type],
      wrong,
      `${mine.length} jobs`,
      ({ job_key: key }) => `${key} ${rows.get(key)?.state} ${JSON.stringify(rows.get(key)?.codes)}`,
    );
  });
}

/** A cancel is honoured: yes means CANCELED without a report, and nothing else is CANCELED. */
function canceledChecks(rows: readonly Row[], { canceled }: Beside): readonly Check[] {
  if (canceled.size === 0) return [];
  const wrong = rows.filter(
    ({ key, state, reports }) => canceled.has(key) !== (state === "CANCELED") || (canceled.has(key) && reports > 0),
  );
  const name = "one whose cancel was answered with yes is CANCELED without a report, and no other is";
  return [noneOf(name, wrong, `${canceled.size} canceled`, ({ key, state }) => `${key} ${state}`)];
}

/**
 * By the publisher's own ledger. A repeat is allowed to a job with a lost try: it may have ended after the call. One that was
 * canceled may have made its call before.
 */
function published(rows: readonly Row[], { ledgers }: Evidence, { prefix }: Beside): readonly Check[] {
  const entries = readLedger(ledgers, "taskflow-publisher").filter(
    ({ outcome, report }) => outcome === "published" && `report:${report}`.startsWith(prefix),
  );
  const byKey: ReadonlyMap<string, readonly Entry[]> = Map.groupBy(entries, ({ key }) => key);
  const wanted = new Map(rows.map((row) => [`${row.id}:publish`, row]));
  const wrong = [...wanted].filter(([key, row]) => {
    const times = byKey.get(key)?.length ?? 0;
    const lost = row.attempt - row.failures - 1 + countOf(row.codes, "WORKER_LOST") + countOf(row.codes, "TIMEOUT");
    if (row.state === "CANCELED") return times > 1 + lost;
    return row.state === "SUCCESS" ? times < 1 || times > 1 + lost : times > 0;
  });
  const strangers = [...byKey.keys()].filter((key) => !wanted.has(key));
  const repeats = entries.length - byKey.size;
  return [
    noneOf(
      "the publisher got each report of a SUCCESS, and of nothing else",
      [...wrong.map(([key]) => key), ...strangers],
      `${byKey.size} reports, ${repeats} repeated`,
    ),
  ];
}

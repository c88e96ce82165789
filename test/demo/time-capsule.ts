import {
  emailOf,
  input,
  isDamaged,
  membersOf,
  treatmentByDomain,
  wantsEmail,
} from "../../examples/time-capsule/input.ts";
import { type Entry, readLedger } from "../../examples/fake/ledger.ts";
import { type Check, type Evidence, type Judge, noneOf, timed } from "./judge.ts";
import { type LiveClient, startLiveClient } from "./live-client.ts";

const capsules = Array.from({ length: input.capsules }, (_, index) => index + 1);
const whole = capsules.filter((capsule) => !isDamaged(capsule));
const notices = whole.flatMap((capsule) => membersOf(capsule, input.users).map((user) => ({ capsule, user })));
const mails = notices.filter(({ user }) => wantsEmail(user));
/** Of half of the openings; single ones may wait for a busy machine. Full size and strict: `npm run proof -- time-capsule`. */
const latenessMsMax = 60_000;
const live = new Map<number, LiveClient>();

interface MailRow {
  readonly id: string;
  readonly key: string;
  readonly state: string;
  readonly recipient: string;
  /** What it was charged with: also a worker that died with this mail alone. */
  readonly failures: number;
  /** The tries that ended, in order. One that a stopping worker gave back did not end: no hook hears of it. */
  readonly ended: readonly number[];
  readonly lines: readonly number[];
  readonly logged: readonly string[];
}

const mailRows = `
  select j.id::text, j.key, j.state::text, j.payload->>'to' as recipient, j.failures,
    array(select a.attempt from belfry.attempt a
      where a.job_id = j.id and a.outcome <> 'RELEASED' order by 1) as ended,
    array(select l.attempt from time_capsule.mail_log l where l.job_id = j.id order by 1) as lines,
    array(select outcome from time_capsule.mail_log l where l.job_id = j.id order by l.attempt, l.outcome) as logged
  from belfry.job j where kind = 'send-open-mail'`;

export const timeCapsule: Judge = {
  name: "time-capsule",
  kinds: ["open-due-capsules", "open-capsule", "send-open-mail"],
  schedules: ["open-due-every-minute"],
  async begin(api) {
    for (const { user } of notices.slice(0, 3)) {
      if (!live.has(user))
        live.set(user, startLiveClient(`${api}/apps/time-capsule/notifications/stream?user=${user}`));
    }
  },
  async progress({ db }) {
    const { rows } = await db.query<{ opened: number; mails: number; ended: number; failed: number }>(`
      select (select count(*)::int from time_capsule.capsule where opened_at is not null) as opened,
        (select count(*)::int from belfry.job where kind = 'send-open-mail') as mails,
        (select count(*)::int from belfry.job where kind = 'send-open-mail' and state >= 'SUCCESS') as ended,
        (select count(*)::int from belfry.job where kind = 'open-capsule' and state = 'FAILED') as failed`);
    const { opened = 0, mails: mailed = 0, ended = 0, failed = 0 } = rows[0] ?? {};
    // The connections of open pages break now and then.
    for (const client of live.values()) client.cut();
    const isDone = opened === whole.length && failed === capsules.length - whole.length;
    const line = `${opened} of ${whole.length} capsules open, ${mailed} mails, ${ended} of them ended`;
    return { done: isDone && ended === mails.length, line };
  },
  async checks(evidence) {
    const checks = [...(await openings(evidence)), ...(await mailChecks(evidence)), await liveCheck(evidence)];
    await Promise.all([...live.values()].map((client) => client.stop()));
    return checks;
  },
};

/** What was due before the lane had started anything waited for the start of the system, not for a mail server. */
const openingTimes = `
  select id::text, (extract(epoch from opened_at - opens_at) * 1000)::float8 as late,
    (extract(epoch from opened_at - greatest(opens_at, (select min(started_at) from belfry.job where lane = 'openings'))) * 1000)::float8 as waited
  from time_capsule.capsule`;

async function openings({ db }: Evidence): Promise<readonly Check[]> {
  const { rows } = await db.query<{ id: string; late: number | null; waited: number | null }>(openingTimes);
  const late = new Map(rows.map((row) => [Number(row.id), row.late]));
  const wrong = (numbers: readonly number[], isWrong: (ms: number | null) => boolean): readonly string[] =>
    numbers.filter((capsule) => isWrong(late.get(capsule) ?? null)).map((capsule) => `capsule ${capsule}`);
  const notified = await db.query<{ pair: string }>(
    "select capsule_id || ' ' || user_id as pair from time_capsule.notification",
  );
  const wanted = new Set(notices.map(({ capsule, user }) => `${capsule} ${user}`));
  const seen = notified.rows.map(({ pair }) => pair);
  const waits = new Map(rows.map((row) => [Number(row.id), row.waited]));
  const waited = whole.map((capsule) => waits.get(capsule) ?? Infinity).toSorted((a, b) => a - b);
  const median = Math.round(waited[Math.floor(waited.length / 2)] ?? Infinity);
  const worst = Math.round(Math.max(...rows.map((row) => row.late ?? 0)));
  const { rows: past } = await db.query<{ at: string }>(
    "select nominal_at::text as at from belfry.occurrence where schedule_id = 'open-due-every-minute' and outcome = 'PLANNED' and nominal_at < belfry.now() - interval '2 minutes'",
  );
  return [
    noneOf(
      "every capsule opened, none before its time",
      wrong(whole, (ms) => ms === null || ms < 0),
      `${whole.length} capsules`,
    ),
    timed({
      name: `openings wait for no mail server: half of them within ${latenessMsMax / 1_000} s`,
      pass: median <= latenessMsMax,
      detail: `median ${median} ms, the latest ${worst} ms`,
    }),
    noneOf(
      "one that is damaged stays closed and holds up nobody",
      wrong(capsules.filter(isDamaged), (ms) => ms !== null),
      `${capsules.length - whole.length} capsules`,
    ),
    noneOf(
      "each member has one notification, and no other has",
      [...wanted]
        .filter((pair) => seen.filter((each) => each === pair).length !== 1)
        .concat(seen.filter((pair) => !wanted.has(pair))),
      `${seen.length} notifications`,
    ),
    timed(noneOf("no minute was skipped", past, "every minute that has passed is decided", ({ at }) => at)),
  ];
}

/** By the mail server's own ledger: what it did with each Message-ID. */
async function mailChecks({ db, ledgers }: Evidence): Promise<readonly Check[]> {
  const { rows } = await db.query<MailRow>(mailRows);
  const byAddress = Map.groupBy(readLedger(ledgers, "time-capsule-mail"), ({ to }) => String(to));
  const keys = new Map(rows.map((row) => [row.key, row]));
  const expectedKeys = mails.map(({ capsule, user }) => `${capsule}:${user}`);
  const unwanted = [...byAddress.keys()].filter((to) => mails.every(({ user }) => emailOf(user) !== to));
  const bad = rows.filter((row) => !isAsTreated(row, byAddress.get(row.recipient) ?? []));
  const unlogged = rows.filter(({ ended, lines }) => ended.join() !== lines.join());
  const count = (outcome: string): number =>
    [...byAddress.values()].flat().filter((entry) => entry.outcome === outcome).length;
  return [
    noneOf(
      "who wants mails has one for each of their capsules, and who does not has none",
      [...expectedKeys.filter((key) => !keys.has(key)), ...unwanted],
      `${rows.length} mails`,
    ),
    noneOf(
      "each mail ended as its server treats mails",
      bad,
      `${count("stored")} stored, ${count("busy")} busy, ${count("rejected")} rejected, ${count("stored late")} stored after we gave up, ${count("hung")} hung`,
      ({ key, state, recipient }) => `${key} ${recipient} ${state}`,
    ),
    noneOf(
      "the mail log has one line for each try that ended",
      unlogged,
      `${rows.reduce((sum, { ended }) => sum + ended.length, 0)} tries`,
      ({ key, ended, lines }) => `${key}: lines for ${lines.join()}, ended ${ended.join()}`,
    ),
  ];
}

/** The ledger has whole mails by recipient; one with several capsules has several Message-IDs. */
function isAsTreated({ state, recipient, failures, logged }: MailRow, entries: readonly Entry[]): boolean {
  const stored = Map.groupBy(
    entries.filter(({ outcome }) => outcome === "stored"),
    ({ key }) => key,
  );
  const answers = logged.filter((outcome) => outcome !== "LOST").length;
  switch (treatmentByDomain(recipient)) {
    case "accepted":
    case "busy once":
      // A second copy is possible only where a try's answer was lost, and then it has the same Message-ID.
      return state === "SUCCESS" && stored.size > 0;
    case "rejected":
      return state === "FAILED" && stored.size === 0 && answers === 1;
    case "late":
    case "hangs":
      return state === "FAILED" && stored.size === 0 && failures >= 3 && logged.length >= failures;
  }
}

async function liveCheck({ db }: Evidence): Promise<Check> {
  const wrong: string[] = [];
  let events = 0;
  for (const [user, { ids }] of live) {
    const { rows } = await db.query<{ n: string }>(
      "select n::text from time_capsule.notification where user_id = $1 order by n",
      [user],
    );
    events += rows.length;
    if (ids.join() !== rows.map(({ n }) => n).join()) wrong.push(`user ${user} saw ${ids.join()} of ${rows.length}`);
  }
  return noneOf(
    "open pages saw each notification once, in order, although their connections were cut",
    wrong,
    `${live.size} pages, ${events} events`,
  );
}

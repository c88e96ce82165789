import { type Hunted, startHunted } from "../hunted.ts";
import { debounceTimes } from "../points.ts";
import type { Checklist, Proof } from "../proof.ts";
import type { System } from "../system.ts";

const callers = 12;
const rollbackShare = 0.1;
/** Messages are delayed by whole seconds, and a killed worker's come back after the visibility timeout. */
const slackMs = 15_000;

/** Each call that committed, in the order in which the calls of a job had its lock. */
const noteCalls = `
create schema proof;
create table proof.call (nr bigint generated always as identity, job_id bigint not null, n int not null);
create function proof.note_call() returns trigger language plpgsql as $$
begin
  insert into proof.call (job_id, n) values (new.id, (new.payload ->> 'n')::int);
  return null;
end $$;
create trigger note_begun after insert on belfry.job for each row when (new.kind = 'reindex') execute function proof.note_call();
create trigger note_joined after update of payload on belfry.job for each row
  when (new.payload is distinct from old.payload) execute function proof.note_call();`;

/** Takes the guard away, for callers of this process too: a key that exists is not locked. */
const lockNothing = `
create function proof.lock_nothing() returns trigger language plpgsql as $$
begin
  return case when not exists (select from belfry.debounce where kind = new.kind and key = new.key) then new end;
end $$;
create trigger lock_nothing before insert on belfry.debounce for each row execute function proof.lock_nothing();`;

/** Twelve callers of the same documents, some in transactions that roll back, while workers die. */
export const debounceProof: Proof = {
  name: "debounce",
  about: `${callers} callers, 2,000 bursts, ${rollbackShare * 100} % of the calls rolled back, 2 % of the messages twice, random kill -9: one start a burst, with the last payload that committed, never later than max`,
  guards: ["debounce-lock"],
  async run(context, list) {
    const hunted = await startHunted(context, {
      app: "debounce",
      sql: noteCalls + (context.without === "debounce-lock" ? lockNothing : ""),
      killEveryMs: 5_000,
    });
    const { system } = hunted;
    const called = await call(hunted, Math.round(2_000 * context.size));
    await hunted.untilEnded();
    const calls = await system.rows<Noted>("select n, job_id::text as id from proof.call order by nr");
    const last = new Map(calls.map(({ id, n }) => [id, n]));
    for (const n of last.values()) {
      const id = called.committed.get(n);
      if (id !== undefined)
        system.asked.push({
          mark: `reindex/${n}`,
          kind: "reindex",
          key: null,
          answer: { id, created: true },
        });
    }
    await hunted.succeeded(list);
    const { bursts, joined } = await assess(list, system, { ...called, calls, last });
    list.figure(
      `${called.committed.size} calls made ${bursts} bursts, ${joined} joined; ${called.rolledBack} calls rolled back, ${hunted.seen()}`,
    );
  },
};

interface Called {
  /** The job of each call that committed, by its number. */
  readonly committed: ReadonlyMap<number, string>;
  readonly created: number;
  readonly rolledBack: number;
}

/** Calls until there were so many bursts: of one document, or of four in an order of their own. */
async function call({ system, random, sendSomeAgain }: Hunted, bursts: number): Promise<Called> {
  const { client, registry } = system.runtime;
  const definition = registry.jobs.get("reindex");
  if (definition === undefined) throw new Error("the app has no reindex");
  const documents = Math.max(20, Math.round(bursts / 50));
  const committed = new Map<number, string>();
  const sum = { created: 0, rolledBack: 0 };
  let next = 0;
  const items = () =>
    [...new Set(Array.from({ length: random() < 0.2 ? 4 : 1 }, () => Math.floor(random() * documents)))].map((doc) => ({
      payload: { doc: `doc-${doc}`, n: (next += 1) },
    }));
  const ownTransaction = async (given: ReturnType<typeof items>): Promise<void> => {
    const own = await system.pool.connect();
    try {
      await own.query("begin");
      const answers = await client.enqueue(definition, given, { tx: own });
      const isKept = random() >= rollbackShare * 2;
      await own.query(isKept ? "commit" : "rollback");
      if (!isKept) sum.rolledBack += given.length;
      else {
        note(given, answers);
        await answers[0]?.afterCommit?.();
      }
    } finally {
      own.release();
    }
  };
  const note = (given: ReturnType<typeof items>, answers: readonly { id: string; created: boolean }[]): void => {
    for (const [at, { id, created }] of answers.entries()) {
      committed.set(given[at]?.payload.n ?? -1, id);
      sum.created += Number(created);
    }
  };
  const caller = async (me: number): Promise<void> => {
    while (sum.created < bursts) {
      const given = items();
      if (me % 2 === 0) await ownTransaction(given);
      else note(given, await client.enqueue(definition, given));
      const joined = committed.get(given[0]?.payload.n ?? -1);
      if (joined !== undefined) await sendSomeAgain([joined]);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, me) => caller(me)));
  return { committed, ...sum };
}

/** A call in the log of the database. */
type Noted = Readonly<{ n: number; id: string }>;

async function assess(
  list: Checklist,
  { row, ledger }: System,
  {
    committed,
    created,
    calls,
    last,
  }: Called & { readonly calls: readonly Noted[]; readonly last: ReadonlyMap<string, number> },
): Promise<{ readonly bursts: number; readonly joined: number }> {
  const wrong = calls.filter(({ n, id }) => committed.get(n) !== id).length;
  list.expect(
    "each call that committed is in the job that it was answered, and none that rolled back",
    wrong === 0 && calls.length === committed.size,
    `${wrong} of ${calls.length}`,
  );
  const starts = ledger.read().filter(({ what }) => what === "start");
  const stale = starts.filter(({ job, note }) => last.get(job) !== Number(note)).length;
  list.expectIs("each start has the last payload that committed", stale, 0);
  const figures = await row<Burst>(burstsOf, [slackMs]);
  list.expect(
    "each burst has one job, and each job one first start",
    figures.jobs === created && figures.starts === created,
    `${figures.jobs} jobs, ${figures.starts} starts, ${created} bursts`,
  );
  list.expectIs("no burst begins while one of its key waits to be started", figures.beside, 0);
  list.expectIs("each job counts the calls that joined it", figures.joined, committed.size - created);
  list.expectIs(`none is due later than ${debounceTimes.max} after its first call`, figures.due_late, 0);
  list.expectIs(`none starts later than that and ${slackMs} ms`, figures.started_late, 0);
  list.expectIs("none starts before it is due", figures.early, 0);
  return { bursts: figures.jobs, joined: figures.joined };
}

type Burst = Readonly<Record<"jobs" | "starts" | "joined" | "beside" | "due_late" | "started_late" | "early", number>>;

/** By the events: when each job started first, beside the next of its document. $1 slack in ms */
const burstsOf = `
with first as (
  select u.id, min(e.at) as at, count(*) as n from belfry.event e cross join lateral unnest(e.job_ids, e.attempts) as u (id, attempt)
  where e.to_state = 'RUNNING' and u.attempt = 1 group by u.id
), burst as (
  select j.*, f.at as first_at, f.n, lead(j.created_at) over (partition by j.payload ->> 'doc' order by j.id) as next_at
  from belfry.job j left join first f on f.id = j.id where j.kind = 'reindex'
)
select count(*)::int as jobs, coalesce(sum(n), 0)::int as starts, coalesce(sum(joined), 0)::int as joined,
  count(*) filter (where next_at < coalesce(first_at, 'infinity'))::int as beside,
  count(*) filter (where due_at > created_at + belfry.span(${debounceTimes.maxMs}) and attempt = 1)::int as due_late,
  count(*) filter (where first_at > due_at_most + belfry.span($1::float8))::int as started_late,
  count(*) filter (where first_at < due_at and attempt = 1)::int as early
from burst`;

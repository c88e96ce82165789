import type { RunId } from "../../../src/machine/job.ts";
import { startHunted } from "../hunted.ts";
import { eachRows } from "../points.ts";
import type { Checklist, Proof } from "../proof.ts";
import type { System } from "../system.ts";
import { until } from "../until.ts";

const runsOfEach = 30;
/** More come when some have ended, so that rows grow all the time. */
const runsAtOnce = 10;
const endMs = 400_000;
/** Each second worker dies where a task of rows grows, in turn at these places. */
const deaths = ["fanout.afterPage", "each.beforeWait", "fanout.beforePage"];

/** Runs bill their rows and close, and each third is canceled between, while every process is killed. */
export const eachProof: Proof = {
  name: "each",
  about:
    "tasks of rows under kills while they grow and run, two schedulers, doubled messages, cancels and a restore: each row once, folded once",
  guards: ["rows-key", "rows-cancel", "lost-ids"],
  async run(context, list) {
    const hunted = await startHunted(context, {
      app: "each",
      chaos: true,
      loses: true,
      killEveryMs: 1_500,
      schedulerEveryMs: 15_000,
      schedulers: (system) => [() => system.scheduler(), () => system.scheduler()],
      envOf: (ordinal): Readonly<Record<string, string>> =>
        ordinal % 2 === 0 ? { BELFRY_CRASH_POINT: deaths[(ordinal / 2) % deaths.length] ?? "" } : {},
    });
    const { system } = hunted;
    const count = Math.max(6, Math.round(runsOfEach * context.size));
    let asked = 0;
    const goOn = (upto: number, most = count): Promise<unknown> =>
      until(`${upto} runs to end`, endMs, async () => {
        await cancelHalfDone(system);
        const [ended, open] = await runsOf(system);
        if (open >= runsAtOnce || asked >= most) return ended >= upto;
        await system.enqueue("month", [{ key: String(asked), payload: { n: asked } }]);
        asked += 1;
        return false;
      });
    await goOn(Math.ceil(count / 4), count / 2);
    await hunted.lose(() => goOn(Math.ceil(count / 2)));
    await goOn(count);
    hunted.endKills();
    await hunted.untilEnded(endMs);
    await hunted.judged(list);
    const canceled = await assess(list, system, count);
    const died = system.processes.diedAt().length;
    list.expect("workers died where rows grew", died > 0, died);
    list.figure(
      `${count} runs of ${eachRows} rows, ${canceled} of them canceled, ${hunted.seen()}, ${died} where rows grew`,
    );
  },
};

async function runsOf({ count }: System): Promise<readonly [ended: number, open: number]> {
  const ended = await count("belfry.run where kind = 'month' and finished_at is not null");
  return [ended, (await count("belfry.job where kind = 'month'")) - ended];
}

/** Each third run, when the first of its rows have ended. Who cancels dies after its mark: a pass cancels the jobs. */
async function cancelHalfDone({ rows, runtime }: System): Promise<void> {
  const half = await rows<{ id: RunId }>(`
    select m.id from belfry.run m join belfry.job b on b.run_id = m.id and b.task = 'bill'
    join belfry.run r on r.starter_id = b.id
    where m.state = 'RUNNING' and (m.input->>'n')::int % 3 = 0
      and (select count(*) from belfry.job where run_id = r.id and state = 'SUCCESS') between 1 and ${eachRows / 2}`);
  for (const { id } of half) await runtime.ports.store.cancelRun(id);
}

interface Seen {
  readonly n: number;
  readonly state: string;
  readonly ofRows: string | null;
  /** Runs of its rows; jobs of these; rows among these; and those that succeeded. */
  readonly runs: number;
  readonly jobs: number;
  readonly rows: number;
  readonly done: number;
  /** How often the task of rows ended, and whether its rows ended before that. */
  readonly ends: number;
  readonly before: boolean;
  readonly folded: readonly number[] | null;
  readonly closed: readonly number[] | null;
}

/** @returns how many runs were canceled. */
async function assess(list: Checklist, { rows }: System, count: number): Promise<number> {
  const runs = await rows<Seen>(`
    select (m.input->>'n')::int as n, m.state, r.state as "ofRows", b.result as folded, c.result as closed,
      (select count(*)::int from belfry.run where starter_id = b.id) as runs,
      j.jobs, j.rows, j.done, e.ends, coalesce(r.finished_at <= e.at, false) as before
    from belfry.run m
    join belfry.job b on b.run_id = m.id and b.task = 'bill' join belfry.job c on c.run_id = m.id and c.task = 'close'
    left join belfry.run r on r.starter_id = b.id
    left join lateral (select count(*)::int as jobs, count(distinct payload)::int as rows,
      (count(*) filter (where state = 'SUCCESS'))::int as done from belfry.job where run_id = r.id) j on true
    left join lateral (select count(*)::int as ends, max(at) as at from belfry.move
      where job_id = b.id and to_state >= 'SUCCESS') e on true
    where m.kind = 'month' order by n`);
  const wanted = JSON.stringify(Array.from({ length: eachRows }, (_, row) => row));
  const isWhole = (run: Seen): boolean =>
    run.ofRows === "DONE" &&
    run.done === eachRows &&
    [run.folded, run.closed].every((is) => JSON.stringify(is) === wanted);
  const isCut = (run: Seen): boolean => run.closed === null && (run.ofRows === "CANCELED" || run.before);
  const shown = (wrong: readonly Seen[]): readonly string[] =>
    wrong.map(({ folded, closed, ...run }) =>
      JSON.stringify({ ...run, folded: folded?.length, closed: closed?.length }),
    );
  const canceled = runs.filter(({ state }) => state === "CANCELED");
  const whole = runs.filter(({ state }) => state === "DONE");
  list.expect("every run is DONE or was canceled", whole.length + canceled.length === count, runs.length);
  list.expect("some of both", whole.length > 0 && canceled.length > 0, canceled.length);
  list.expectNone(
    "each row has one job, of one run",
    shown(runs.filter((run) => run.runs > 1 || run.jobs !== run.rows)),
  );
  list.expectNone("a task of rows ends once", shown(runs.filter(({ ends }) => ends !== 1)));
  list.expectNone("each row ran, and was folded once", shown(whole.filter((run) => !isWhole(run))));
  list.expectNone("a cancel ends the rows too", shown(canceled.filter((run) => !isCut(run))));
  return canceled.length;
}

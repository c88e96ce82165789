import { array, boolean, constant, constantFrom, nat, option, tuple, type Arbitrary } from "fast-check";
import type { NewRun, NewTask } from "../../src/machine/run.ts";
import type { OutboxBatch } from "../../src/machine/outbox.ts";
import type { TestStore } from "../support/looks.ts";
import { settlementOf } from "../contract/store/fixture.ts";
import { aRun } from "../contract/store/run-fixture.ts";
import { attemptOf, draft, jobsOf, messagesOf, twinsOf, type Draft } from "./job-commands.ts";
import type { Pair } from "./pair.ts";
import { passStep, step, type Step } from "./step.ts";

const pick = nat(40);
const picks = array(pick, { minLength: 1, maxLength: 3 });
const key = constantFrom("r1", "r2", "r3", "r4");
const policy = constantFrom("stop", "skip-downstream", "continue");

interface TaskDraft {
  readonly job: Draft;
  /** Those of the earlier tasks whose bit is set. */
  readonly after: number;
  readonly join: NewTask["join"];
  readonly hasCondition: boolean;
  readonly wait: Exclude<NewTask["wait"], undefined>;
}

const task: Arbitrary<TaskDraft> = tuple(
  draft,
  nat(15),
  constantFrom<NewTask["join"][]>("all", "any", "allDone", { atLeast: 2 }),
  constantFrom(
    { hasCondition: false, wait: null },
    { hasCondition: false, wait: { ms: 25_000, forSignal: true } },
    { hasCondition: true, wait: null },
  ),
).map(([job, after, join, how]) => ({ job: { ...job, key: null, delayMs: 0, expires: false }, after, join, ...how }));

async function tasksOf(pair: Pair, drafts: readonly TaskDraft[]): Promise<NewTask[]> {
  const jobs = await jobsOf(
    pair,
    drafts.map(({ job }) => job),
  );
  return drafts.flatMap(({ after, join, hasCondition, wait }, place) => {
    const job = jobs[place];
    const before = Array.from({ length: place }, (_, n) => n).filter((n) => (after >> n) % 2 === 1);
    const bare = job === undefined ? [] : [{ ...job, payload: null }];
    return bare.map((job) => ({ task: `t${place}`, job, after: before, join, hasCondition, wait }));
  });
}

const share = constantFrom(0, 0, 0.34, 0.5, 1);
const rest = { lane: "slow", leaseMs: 20_000, maxAttempts: 2, retentionMs: 604_800_000 } as const;
const follow = constantFrom(null, "success", "end").map((on) =>
  on === null ? null : { job: "close", kind: "close.then", on, ...rest },
);

const graph = tuple(key, policy, share, follow, array(task, { maxLength: 5 })).map(
  ([name, onFailure, tolerate, continuation, drafts]) =>
    step(
      `start the graph ${name} ${onFailure} ${tolerate} ${continuation?.on} ${JSON.stringify(drafts)}`,
      async (pair) => {
        const tasks = await tasksOf(pair, drafts);
        const run = { key: name, onFailure, tolerate, continuation, tasks } satisfies Partial<NewRun>;
        await pair.both((store) => store.startRun(aRun(run), {}));
      },
    ),
);

/** As a starter does: its run, and its own success, in one transaction. */
const startedBy = tuple(key, policy, pick, array(task, { maxLength: 3 })).map(([name, onFailure, chosen, drafts]) =>
  step(`job ${chosen} starts the graph ${name} and succeeds`, async (pair) => {
    const running = await runningTwin(pair, chosen);
    if (running === null) return;
    const tasks = await tasksOf(pair, drafts);
    await pair.both((store, id) =>
      store.transaction(async (tx) => {
        const run = aRun({ key: name, onFailure, tasks, starterId: id(running.twin) });
        const started = await store.startRun(run, { tx });
        const end = settlementOf({ jobId: id(running.twin), attempt: running.attempt });
        return { started, ended: await store.settle([end], { worker: "w", tx }) };
      }),
    );
  }),
);

/** A job that runs, near the chosen one: one of no run itself starts a run; a task, that of its rows. */
async function runningTwin(pair: Pair, chosen: number, isTask = false) {
  for (let n = 0; n < pair.jobs.length; n += 1) {
    const twin = pair.job(chosen + n);
    const row = twin === undefined ? undefined : pair.oracle.tables.jobs.get(Number(twin.oracle));
    const isFree =
      row?.state === "RUNNING" &&
      (row.task !== null) === isTask &&
      (row.runId === null || isTask) &&
      row.worker === "w";
    if (twin !== undefined && isFree) return { twin, attempt: row.attempt };
  }
  return null;
}

const waiting = { to: "RETRY_WAIT", delayMs: 400_000, failures: 0 } as const;

/** A task without rows waits at once: the end of its run makes it due. */
const fanOut = tuple(key, pick, constantFrom("job", "task", "task without rows")).map(([name, chosen, by]) =>
  step(`${by} ${chosen} starts the fan-out ${name}`, async (pair) => {
    const running = await runningTwin(pair, chosen, by !== "job");
    if (running === null) return;
    const { twin, attempt } = running;
    await pair.both(async (store, id): Promise<unknown> => {
      const started = await store.startRun(aRun({ key: name, sealed: false, starterId: id(twin) }), {});
      if (by !== "task without rows") return started;
      return await store.transaction(async (tx) => {
        await store.sealRun(started.runId, { tx });
        return await store.settle([settlementOf({ jobId: id(twin), attempt }, waiting)], { worker: "w", tx });
      });
    });
  }),
);

const page = tuple(pick, array(draft, { maxLength: 3 }), boolean(), constantFrom(0, 0, 0, 1)).map(
  ([chosen, drafts, hasRows, off]) =>
    step(`a page of run ${chosen} ${JSON.stringify(drafts)}`, async (pair) => {
      const run = pair.run(chosen);
      const starter = run === undefined ? null : ((await pair.oracle.run(run.oracle))?.starter ?? null);
      const by = pair.jobs.find(({ oracle }) => oracle === starter);
      if (run === undefined || by === undefined) return;
      const attempt = (await attemptOf(pair, by)) + off;
      const jobs = await jobsOf(pair, drafts);
      const targets = jobs.map((job) => ({ job, row: hasRows ? { of: job.key } : null }));
      await pair.both((store, id, side) =>
        store
          .addPage(run[side], { targets, cursor: { at: chosen }, by: { jobId: id(by), attempt } })
          .catch(() => "refused"),
      );
    }),
);

const seal = tuple(pick, constantFrom(null, {}, waiting)).map(([chosen, end]) =>
  step(
    `seal run ${chosen}${end === null ? "" : end === waiting ? "; its task waits" : " and end its starter"}`,
    async (pair) => {
      const run = pair.run(chosen);
      const view = run === undefined ? null : await pair.oracle.run(run.oracle);
      const by = pair.jobs.find(({ oracle }) => oracle === view?.starter);
      // Slots pass from a starter that still has them: it seals once, before it ends.
      if (run === undefined || view?.sealed !== false || by === undefined) return;
      const row = pair.oracle.tables.jobs.get(Number(by.oracle));
      if (row?.state !== "RUNNING" || row.worker !== "w") return;
      await pair.both((store, id, side) =>
        store.transaction(async (tx) => {
          const sealed = await store.sealRun(run[side], { tx });
          const to = end === null ? null : settlementOf({ jobId: id(by), attempt: row.attempt }, end);
          const ended = to === null ? null : await store.settle([to], { worker: "w", tx });
          return { sealed, ended };
        }),
      );
    },
  ),
);

const claimWhere = tuple(picks, boolean()).map(([chosen, alone]) =>
  step(`claim ${chosen.join()}, whose conditions hold`, async (pair) => {
    const messages = await messagesOf(pair, chosen, 0);
    await pair.both((store, _id, side) =>
      store.claim(messages[side], { worker: "w", alone, asked: messages[side].map(({ jobId }) => jobId) }),
    );
  }),
);

const skip = tuple(picks, constantFrom(0, 0, 1)).map(([chosen, old]) =>
  step(`skip ${chosen.join()}, whose conditions do not hold`, async (pair) => {
    const messages = await messagesOf(pair, chosen, old);
    await pair.both((store, _id, side) => store.skip(messages[side], { reason: "condition" }));
  }),
);

/** To the end: how far one round comes is each store's own. */
export async function resolved(store: TestStore): Promise<unknown> {
  const closed: unknown[] = [];
  const outbox: OutboxBatch[] = [];
  for (let more = true; more;) {
    const round = await store.resolve({ runs: "all", limit: 1_000 });
    closed.push(...round.closed);
    outbox.push(...round.aftermath.outbox);
    more = round.steps > 0;
  }
  return { closed, outbox };
}

const resolve = constant(passStep("resolve", (pair) => pair.both(resolved)));

const cancelRun = pick.map((chosen) =>
  step(`cancel run ${chosen}`, async (pair) => {
    const run = pair.run(chosen);
    if (run !== undefined) await pair.both((store, _id, side) => store.cancelRun(run[side]));
  }),
);

const signal = tuple(pick, constantFrom("ada", "bob"), constantFrom(true, true, false)).map(([chosen, by, isAsked]) =>
  step(`${by} signals ${isAsked ? "what waits" : "any task"} near job ${chosen}`, async (pair) => {
    const rows = pair.jobs.flatMap(({ oracle }) => pair.oracle.tables.jobs.get(Number(oracle)) ?? []);
    const some = rows.filter(({ task, wait }) => (isAsked ? wait?.forSignal === true : task !== null));
    const row = some[chosen % Math.max(1, some.length)];
    const run = pair.runs.find(({ oracle }) => Number(oracle) === row?.runId);
    if (run === undefined) return;
    const sent = { payload: { by }, caller: by };
    await pair.both((store, _id, side) => store.signal(run[side], row?.task ?? "", sent));
  }),
);

const cancelPage = tuple(pick, constantFrom(1, 1_000)).map(([chosen, limit]) =>
  step(`cancel ${limit} of run ${chosen}`, async (pair) => {
    const run = pair.run(chosen);
    if (run === undefined) return;
    await pair.both((store, _id, side) => store.cancelPage(run[side], { limit }));
    await pair.both((store) => store.cancelingRuns(100));
  }),
);

const resume = tuple(pick, option(picks)).map(([chosen, some]) =>
  step(`resume run ${chosen}${some === null ? "" : ` from ${some.join()}`}`, async (pair) => {
    const run = pair.run(chosen);
    if (run === undefined) return;
    const twins = some === null ? null : twinsOf(pair, some);
    await pair.both((store, id, side) => store.resumeRun(run[side], twins === null ? {} : { ids: twins.map(id) }));
  }),
);

/** Tasks by the names of before, or others, with other edges: refused where the run has gone too far. */
const renewed = tuple(pick, policy, array(task, { maxLength: 6 })).map(([chosen, onFailure, drafts]) =>
  step(`resume run ${chosen} by the newer definition ${onFailure} ${JSON.stringify(drafts)}`, async (pair) => {
    const run = pair.run(chosen);
    const view = run === undefined ? null : await pair.oracle.run(run.oracle);
    const isGraph = pair.oracle.tables.inRun(Number(run?.oracle)).every((row) => row.task !== null);
    if (run === undefined || view?.sealed !== true || !isGraph) return;
    const newer = aRun({ onFailure, tasks: await tasksOf(pair, drafts), version: 4, shape: "newer" });
    await pair.both((store, _id, side) => store.resumeRun(run[side], { newer, caller: "ada" }));
  }),
);

const about = picks.map((chosen) =>
  step(`the runs of ${chosen.join()}`, (pair) => pair.both((store, id) => store.inRuns(twinsOf(pair, chosen).map(id)))),
);

/** What happens to runs and their jobs. */
export const runSteps: readonly Arbitrary<Step>[] = [
  graph,
  graph,
  startedBy,
  fanOut,
  page,
  page,
  seal,
  claimWhere,
  claimWhere,
  skip,
  signal,
  resolve,
  resolve,
  cancelRun,
  cancelPage,
  resume,
  renewed,
  about,
];

/** What moves runs that exist, and their jobs. */
export const runMoves: readonly Arbitrary<Step>[] = [
  page,
  seal,
  skip,
  signal,
  resolve,
  cancelRun,
  cancelPage,
  resume,
  renewed,
];

/** A graph and a fan-out with a page. */
export const runsUnderWay: readonly Arbitrary<Step>[] = [graph, fanOut, page, page, claimWhere];

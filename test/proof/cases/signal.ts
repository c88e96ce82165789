import type { RunId } from "../../../src/machine/job.ts";
import { signalRun } from "../../../src/run/signal-run.ts";
import { type Hunted, startHunted } from "../hunted.ts";
import type { Proof } from "../proof.ts";
import { until } from "../until.ts";

const runsOfAll = 200;
const endMs = 280_000;
const callers = ["ada", "bob", "eve"];

/** Each run is answered by three callers at once, some before its task waits, while every process is killed. */
export const signalProof: Proof = {
  name: "signal",
  about:
    "runs that wait for a signal of which three come, early and late, under kills and doubled messages and a restore: the first counts",
  guards: ["early-signal", "lost-ids"],
  async run(context, list) {
    const hunted = await startHunted(context, {
      app: "signal",
      chaos: true,
      loses: true,
      killEveryMs: 1_500,
      schedulerEveryMs: 15_000,
    });
    const { system } = hunted;
    const count = 2 * Math.max(6, Math.round((runsOfAll / 2) * context.size));
    const payouts = Array.from({ length: count }, (_, n) => ({ key: String(n), payload: { n } }));
    const first: First = new Map();
    await system.enqueue("payout", payouts.slice(0, count / 2));
    let early = await answer(hunted, first, Math.ceil(count / 4));
    const kept = [...first.keys()];
    await hunted.lose(async () => {
      await system.enqueue("payout", payouts.slice(count / 2));
      early += await answer(hunted, first, count / 2);
    });
    list.expectNone("what was taken before the lost time stays", await answerAgain(hunted, first, kept));
    early += await answer(hunted, first, count);
    await hunted.judged(list);
    const rows = await system.rows<{ id: RunId; n: string; by: string | null }>(
      "select r.id, r.input ->> 'n' as n, j.result #>> '{}' as by from belfry.run r join belfry.job j on j.run_id = r.id and j.task = 'pay' where r.state = 'DONE'",
    );
    list.expectIs("every run is DONE", rows.length, count);
    list.expectNone(
      "each run has one first signal",
      [...first].flatMap(([id, { by }]) => (by.length === 1 ? [] : [`run ${id}: ${by.join()}`])),
    );
    list.expectNone(
      "each run ends with its first signal, and is the run that was asked",
      rows.flatMap(({ id, n, by }) => {
        const sent = first.get(id);
        return by === sent?.by[0] && n === sent?.n ? [] : [`run ${id} of ${n}: ${by}, sent to ${sent?.n}`];
      }),
    );
    list.expect("signals came early", early > 0, early);
    list.figure(`${count} runs, ${early} of their signals early, ${hunted.seen()}`);
  },
};

/** Whose signals each run took, and its number. */
type First = Map<RunId, { readonly n: string; readonly by: readonly string[] }>;

/** All callers at once. */
async function send({ random, system: { runtime } }: Hunted, id: RunId) {
  const sent = callers
    .toSorted(() => random() - 0.5)
    .map(async (by) => {
      const signal = { name: "approved", payload: { by }, caller: by };
      const { is } = await signalRun(runtime.ports, runtime.registry, { id, kind: "payout" }, signal);
      return { is, by };
    });
  return await Promise.all(sent);
}

const takers = (sent: Awaited<ReturnType<typeof send>>): readonly string[] =>
  sent.flatMap(({ is, by }) => (is === "taken" ? [by] : []));

/** Until so many runs have been answered. @returns how many signals came before their task waited. */
async function answer(hunted: Hunted, first: First, upto: number): Promise<number> {
  let early = 0;
  await until(`${upto} runs to be answered`, endMs, async () => {
    const rows = await hunted.system.rows<{ id: RunId; n: string; blocked: boolean }>(
      "select r.id, r.input ->> 'n' as n, j.blocked from belfry.run r join belfry.job j on j.run_id = r.id and j.task = 'approved'",
    );
    const open = rows.filter(({ id, blocked }) => !first.has(id) && (!blocked || hunted.random() < 0.3));
    for (const { id, n, blocked } of open) {
      first.set(id, { n, by: takers(await send(hunted, id)) });
      early += Number(blocked);
    }
    return first.size >= upto;
  });
  return early;
}

/** All callers call again; a run that is lost takes nothing. @returns kept runs that gave another answer than it should be. */
async function answerAgain(hunted: Hunted, first: First, kept: readonly RunId[]): Promise<readonly string[]> {
  const odd: string[] = [];
  for (const [id, { n, by }] of first) {
    const sent = await send(hunted, id);
    if (kept.includes(id)) {
      const wrong = sent.filter((one) => one.is !== "late" && one.is !== (by[0] === one.by ? "repeated" : "conflict"));
      odd.push(...wrong.map((one) => `run ${id}: ${one.by} ${one.is}`));
    } else if (takers(sent).length === 0) first.delete(id);
    else first.set(id, { n, by: takers(sent) });
  }
  return odd;
}

import type { RunId } from "../../../src/machine/job.ts";
import { signalRun } from "../../../src/run/signal-run.ts";
import { startHunted } from "../hunted.ts";
import type { Proof } from "../proof.ts";
import type { System } from "../system.ts";
import { until } from "../until.ts";

const runsOfAll = 200;
const endMs = 280_000;
const callers = ["ada", "bob", "eve"];

/** Each run is answered by three callers at once, some before its task waits, while every process is killed. */
export const signalProof: Proof = {
  name: "signal",
  about:
    "runs that wait for a signal of which three come, early and late, under kills and doubled messages: the first counts",
  guards: ["early-signal"],
  async run(context, list) {
    const hunted = await startHunted(context, {
      app: "signal",
      chaos: true,
      killEveryMs: 1_500,
      schedulerEveryMs: 15_000,
    });
    const { system } = hunted;
    const count = Math.max(6, Math.round(runsOfAll * context.size));
    await system.enqueue(
      "payout",
      Array.from({ length: count }, (_, n) => ({ key: String(n), payload: { n } })),
    );
    const { first, early } = await answerAll(system, count, hunted.random);
    await hunted.judged(list);
    const { rows } = await system.pool.query<{ id: string; by: string | null }>(
      "select r.id, j.result #>> '{}' as by from belfry.run r join belfry.job j on j.run_id = r.id and j.task = 'pay' where r.state = 'DONE'",
    );
    list.expect("every run is DONE", rows.length === count, rows.length);
    list.expectNone(
      "each run has one first signal",
      [...first].flatMap(([id, by]) => (by.length === 1 ? [] : [`run ${id}: ${by.join()}`])),
    );
    list.expectNone(
      "each run ends with its first signal",
      rows.flatMap(({ id, by }) => (by === first.get(id)?.[0] ? [] : [`run ${id}: ${by}`])),
    );
    list.expect("signals came early", early > 0, early);
    list.figure(`${count} runs, ${early} of their signals early, ${hunted.seen()}`);
  },
};

/** @returns whose signals were taken by each run, and how many of these came before their task waited. */
async function answerAll(system: System, count: number, random: () => number) {
  const { ports, registry } = system.runtime;
  const first = new Map<string, string[]>();
  let early = 0;
  await until("all runs to be answered", endMs, async () => {
    const { rows } = await system.pool.query<{ id: RunId; blocked: boolean }>(
      "select r.id, j.blocked from belfry.run r join belfry.job j on j.run_id = r.id and j.task = 'approved'",
    );
    const open = rows.filter(({ id, blocked }) => !first.has(id) && (!blocked || random() < 0.3));
    for (const { id, blocked } of open) {
      const sent = await Promise.all(
        callers
          .toSorted(() => random() - 0.5)
          .map((by) =>
            signalRun(ports, registry, { id, kind: "payout" }, { name: "approved", payload: { by }, caller: by }).then(
              ({ is }) => ({ is, by }),
            ),
          ),
      );
      first.set(
        id,
        sent.flatMap(({ is, by }) => (is === "taken" ? [by] : [])),
      );
      early += Number(blocked);
    }
    return first.size === count;
  });
  return { first, early };
}

import { fanOuts } from "../points.ts";
import { type Checklist, type Proof, seeded } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { until } from "../until.ts";

const subscribers = 100_000;
const pageRows = 1_000;
const killsOfEach = 6;

/** Fan-outs are killed before and after pages that a seed picks; what they left is counted row by row. */
export const fanoutKill: Proof = {
  name: "fanout-kill",
  about: "kill -9 at pages of 100,000 targets, before and after a page's commit: 0 missing, 0 double",
  guards: ["repeat", "page"],
  async run(context, list) {
    const random = seeded(context.seed);
    const count = Math.round((subscribers * context.size) / fanOuts) * fanOuts;
    const system = await startInstalled(context, {
      app: "fanout-kill",
      sql: `create schema proof; create table proof.subscriber as select n::int as id from generate_series(1, ${count}) n;
        create unique index on proof.subscriber (id);`,
      lane: () => ({ visibilityTimeoutSeconds: 4 }),
    });
    const lanes = Array.from({ length: fanOuts }, (_, share) => `share-${share}`);
    const pages = Math.ceil(count / fanOuts / pageRows);
    const plans = new Map(lanes.map((lane) => [lane, plansOf(pages, random)]));
    const { fleet, stop } = system.work({
      everyMs: 1_000,
      lanes,
      envOf(ordinal, lane) {
        const plan = plans.get(lane)?.[ordinal - 1];
        return plan === undefined ? {} : { BELFRY_CRASH_POINT: plan };
      },
    });
    for (const lane of lanes)
      await system.enqueue(lane.replace("share", "daily"), [{ payload: undefined, key: "day" }]);
    await until(
      "all fan-outs to be written",
      540_000,
      async () => (await system.count("belfry.run where sealed")) === fanOuts,
    );
    await stop();
    const killed = lanes.flatMap((lane) => fleet.started(lane)).filter((pid) => endedBySigkill(system, pid)).length;
    await countTargets(list, system, count);
    list.expect("workers were killed in every lane", killed >= fanOuts, killed);
    list.figure(`${count} targets in ${fanOuts} fan-outs of ${pages} pages, ${killed} workers killed`);
  },
};

const endedBySigkill = (system: System, pid: number): boolean => system.processes.endOf(pid)?.signal === "SIGKILL";

/** The first six workers of a lane die at some page of theirs, in turn before and after its commit. */
const plansOf = (pages: number, random: () => number): readonly string[] =>
  Array.from({ length: killsOfEach }, (_, n) => {
    const place = n % 2 === 0 ? "fanout.afterPage" : "fanout.beforePage";
    return `${place}:${1 + Math.floor((random() * pages) / killsOfEach)}`;
  });

async function countTargets(list: Checklist, system: System, count: number): Promise<void> {
  const seen = await system.row<{ missing: number; double: number; strange: number; total: number }>(`
    with target as (
      select (payload->>'to')::int as id, count(*)::int as n from belfry.job where kind = 'push' group by 1
    )
    select (select count(*) from proof.subscriber s where not exists (select from target t where t.id = s.id))::int as missing,
      (select count(*) from target where n > 1)::int as double,
      (select count(*) from target t where not exists (select from proof.subscriber s where s.id = t.id))::int as strange,
      (select sum(total) from belfry.run_progress)::int as total`);
  list.expectIs("0 missing", seen.missing, 0);
  list.expectIs("0 double", seen.double, 0);
  list.expectIs("nobody else", seen.strange, 0);
  list.expectIs("the runs count what was written", seen.total, count);
  const stray = await system.count("belfry.job where kind = 'push' and run_id is null");
  list.expectIs("every target belongs to its run", stray, 0);
  const tries = await system.rows<{ kind: string }>(
    "select kind from belfry.job where kind like 'daily-%' and state <> 'SUCCESS'",
  );
  list.expectNone("every fan-out succeeded", tries, ({ kind }) => kind);
}

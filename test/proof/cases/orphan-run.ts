import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JobId } from "../../../src/core/job/job.ts";
import { targets } from "../app/edges.ts";
import { Checklist, type Proof } from "../proof.ts";
import { startSystem, type System } from "../system.ts";
import { until } from "../until.ts";

/** The starter of a fan-out gives up after its first page; its run ends all the same, and goes on with the starter's retry. */
export const orphanRun: Proof = {
  name: "orphan-run",
  about: "a starter that FAILED seals its run, which closes FAILED, and ends DONE with the starter's retry",
  guards: ["seal"],
  async run(context) {
    const list = new Checklist();
    const flag = join(context.folder, "broken");
    const system = await startSystem(context, {
      app: "edges",
      env: { BELFRY_PROOF_BROKEN: flag },
    });
    writeFileSync(flag, "");
    await system.install();
    const wakes = system.wakes({ everyMs: 0 });
    const fleet = system.fleet({ lanes: ["pages", "push"] });
    const [starter] = await system.enqueue("orphan", [{ payload: undefined, key: "day" }]);
    await until("the starter to give up", 60_000, async () => (await stateOf(system, "job", "orphan")) === "FAILED");
    const closed = await until("the run to close", 60_000, async () => {
      const state = await stateOf(system, "run", "orphan");
      return state === "RUNNING" ? null : state;
    }).catch(() => "RUNNING for 60 s more");
    list.expect("the run closes FAILED", closed === "FAILED", closed);
    list.expect("what its first page wrote has run", (await succeeded(system)) === 1_000, await succeeded(system));
    rmSync(flag);
    await system.runtime.ports.store.retry([String(starter?.id) as JobId]);
    const done = await until(
      "the run to end",
      120_000,
      async () => (await stateOf(system, "run", "orphan")) === "DONE",
    ).catch(() => false);
    list.expect("it opens again with its starter's retry and ends DONE", done);
    list.expect(`all ${targets} targets ran`, (await succeeded(system)) === targets, await succeeded(system));
    await wakes.stop();
    await fleet.stop();
    await system.stop();
    return list.verdict();
  },
};

async function stateOf(system: System, table: "job" | "run", kind: string): Promise<string | undefined> {
  const { rows } = await system.pool.query<{ state: string }>(`select state from belfry.${table} where kind = $1`, [
    kind,
  ]);
  return rows[0]?.state;
}

const succeeded = (system: System): Promise<number> =>
  system.count("belfry.job where kind = 'push' and state = 'SUCCESS'");

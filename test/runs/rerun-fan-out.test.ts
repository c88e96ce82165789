import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineFanOut, defineJob, type Moment } from "../../src/compose/index.ts";
import { runLimits } from "../../src/machine/run-limits.ts";
import { rerunRun } from "../../src/insight/run-control.ts";
import { cancelRun } from "../../src/run/cancel-run.ts";
import { world } from "../core/world.ts";
import { runToEnd, startedRun, stateOf } from "./drive.ts";
import { insightOf } from "../support/insight-stub.ts";

/** A fan-out over people who come and go, which remembers whom it wrote to and for which occurrence it asked. */
function quiz(people: readonly string[]) {
  const sent: string[] = [];
  const moments: Moment[] = [];
  const left = new Set<string>();
  const everybody = [...people];
  async function* read() {
    for (const id of everybody) yield { id };
  }
  const fanOut = defineFanOut({
    id: "daily-quiz",
    from: (moment) => (moments.push(moment), read()),
    key: (row, moment) => `${moment.day}:${row.id}`,
    each: defineJob({ id: "push", payload: z.object({ user: z.string() }), run: (p) => void sent.push(p.user) }),
    payload: (row) => ({ user: row.id }),
    stillWanted: (row) => !left.has(row.id),
  });
  return { fanOut, sent, moments, left, everybody };
}

describe("a fan-out that is run again", () => {
  test("writes its targets again in a linked run with the next key, for the same occurrence", async () => {
    const { fanOut, sent, moments, left, everybody } = quiz(["a", "b"]);
    const run = await startedRun(fanOut, undefined);
    const { world: ports, registry } = run.shop;
    expect(await runToEnd(run)).toBe("DONE");
    everybody.push("c");
    left.add("a");
    await ports.clock.advance(3 * 86_400_000);
    const again = await rerunRun({ ...ports, insight: insightOf(ports.store) }, registry, run.id);
    expect(await runToEnd({ ...run, id: again })).toBe("DONE");
    expect(sent).toEqual(["a", "b", "b", "c"]);
    expect(moments[1]).toEqual(moments[0]);
    const [first, second] = [await ports.store.run(run.id), await ports.store.run(again)];
    expect(second).toMatchObject({ key: `${first?.key}#2`, parent: run.id, input: first?.input, total: 3, ok: 2 });
    const day = moments[0]?.day;
    expect(Object.keys(await stateOf({ ...run, id: again }))).toEqual(["a", "b", "c"].map((id) => `${day}:${id}#2`));
    const third = await rerunRun({ ...ports, insight: insightOf(ports.store) }, registry, again);
    expect(await runToEnd({ ...run, id: third })).toBe("DONE");
    expect(await ports.store.run(third)).toMatchObject({ key: `${first?.key}#3`, parent: again });
    expect(sent).toHaveLength(6);
  });

  test("is canceled without a trace in the run before or the one after it", async () => {
    const { fanOut, sent } = quiz(["a", "b"]);
    const run = await startedRun(fanOut, undefined);
    const { world: ports, registry } = run.shop;
    expect(await runToEnd(run)).toBe("DONE");
    const second = await rerunRun({ ...ports, insight: insightOf(ports.store) }, registry, run.id);
    const third = await rerunRun({ ...ports, insight: insightOf(ports.store) }, registry, run.id);
    await cancelRun(ports, registry, second);
    expect(await runToEnd({ ...run, id: third })).toBe("DONE");
    expect(await ports.store.run(second)).toMatchObject({ state: "CANCELED", ok: 0 });
    expect(sent).toEqual(["a", "b", "a", "b"]);
  });

  test("goes on where its last try ended when the worker dies between two pages", async () => {
    const people = Array.from({ length: 2 * runLimits.fanOutPageRowsMax }, (_, n) => `p${n}`);
    const { fanOut, sent } = quiz(people);
    let pages = 0;
    const crashPoint = async (name: string): Promise<void> => {
      if (name === "fanout.afterPage" && (pages += 1) === 3) throw new Error("the worker died");
    };
    const run = await startedRun(fanOut, undefined, { max: 1_000, world: world(() => ({ crashPoint })) });
    const { world: ports, registry } = run.shop;
    expect(await runToEnd(run)).toBe("DONE");
    const again = await rerunRun({ ...ports, insight: insightOf(ports.store) }, registry, run.id);
    expect(await runToEnd({ ...run, id: again })).toBe("DONE");
    expect(pages).toBe(5);
    expect(await ports.store.run(again)).toMatchObject({ total: people.length, ok: people.length });
    expect(sent).toHaveLength(2 * people.length);
  });
});

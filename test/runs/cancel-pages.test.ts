import { describe, expect, test } from "vitest";
import type { RunId } from "../../src/core/job/job.ts";
import { type Aftermath, noAftermath } from "../../src/core/ports/ports.ts";
import { runLimits } from "../../src/core/ports/run-limits.ts";
import { cancelRun, finishCancels } from "../../src/core/work/cancel-run.ts";
import { registryFor, world } from "../core/world.ts";

const registry = registryFor();
const run = "7" as RunId;
const nothingResolved = { steps: 0, closed: [], more: false, aftermath: noAftermath };

interface Page {
  readonly canceled: number;
  readonly isEmpty?: boolean;
  readonly aftermath?: Partial<Aftermath>;
}

/** Open runs with their pages; the last one is given again and again. */
function stage(runs: Readonly<Record<string, readonly Page[]>>, onPage: () => void = () => {}) {
  const calls: string[] = [];
  const read: Record<string, number> = {};
  const ports = world((base) => ({
    store: Object.assign({}, base.store, {
      cancelRun: async (id: RunId, options?: object) => {
        calls.push(`run ${id} ${JSON.stringify(options)}`);
        return (runs[id] ?? []).length > 0;
      },
      cancelPage: async (id: RunId, { limit }: { limit: number }) => {
        calls.push(`page ${id} ${limit}`);
        onPage();
        const pages = runs[id] ?? [];
        const place = (read[id] = (read[id] ?? -1) + 1);
        const page = pages[Math.min(place, pages.length - 1)];
        return {
          canceled: page?.canceled ?? 0,
          isEmpty: page?.isEmpty ?? false,
          aftermath: { ...noAftermath, ...page?.aftermath },
        };
      },
      cancelingRuns: async (limit: number, only?: object) => {
        calls.push(`canceling ${limit} ${JSON.stringify(only)}`);
        return Object.keys(runs);
      },
      resolve: async ({ runs: ids }: { runs: readonly RunId[] }) => {
        calls.push(`resolve ${ids.join()}`);
        return nothingResolved;
      },
      wake: async ({ slotKeys }: { slotKeys: readonly string[] }) => {
        calls.push(`wake ${slotKeys.join()}`);
        return [];
      },
    }),
  }));
  return { ports, calls };
}

const end: Page = { canceled: 0, isEmpty: true };
const page = `page 7 ${runLimits.cancelRowsMax}`;

describe("the cancel of one run", () => {
  test("of a run that has ended, or does not exist, is none", async () => {
    const { ports, calls } = stage({});
    expect(await cancelRun(ports, registry, run, { caller: "ada" })).toBe(null);
    expect(calls).toEqual(['run 7 {"caller":"ada"}']);
  });

  test("goes on until the empty page, also past one whose jobs ended by themselves, and then resolves the run", async () => {
    const { ports, calls } = stage({ 7: [{ canceled: 3 }, { canceled: 0 }, { canceled: 2 }, end, { canceled: 9 }] });
    expect(await cancelRun(ports, registry, run)).toBe(5);
    expect(calls).toEqual(["run 7 {}", page, page, page, page, "resolve 7"]);
  });

  test("resolves a run without open jobs too, so that it closes", async () => {
    const { ports, calls } = stage({ 7: [end] });
    expect(await cancelRun(ports, registry, run)).toBe(0);
    expect(calls).toEqual(["run 7 {}", page, "resolve 7"]);
  });

  test("does once, after the last page, what all of them left", async () => {
    const { ports, calls } = stage({
      7: [
        { canceled: 1, aftermath: { freed: ["a"], runs: ["8" as RunId] } },
        { canceled: 1, aftermath: { freed: ["b"] } },
        end,
      ],
    });
    await cancelRun(ports, registry, run);
    expect(calls).toEqual(["run 7 {}", page, page, page, "resolve 7,8", "wake a,b"]);
  });

  test.each([0, 1, 2, 3])("reads at most %i pages when it is told so", async (roundsMax) => {
    const { ports, calls } = stage({ 7: [{ canceled: 2 }] });
    expect(await cancelRun(ports, registry, run, { roundsMax })).toBe(2 * roundsMax);
    expect(calls).toEqual(["run 7 {}", ...Array.from({ length: roundsMax }, () => page), "resolve 7"]);
  });
});

describe("cancels that their process left", () => {
  test("are continued, all that are found and still open", async () => {
    const { ports, calls } = stage({ 7: [{ canceled: 3 }, end], 8: [end], 9: [{ canceled: 2 }, end], 10: [] });
    const { signal } = new AbortController();
    const only = { withdrawn: "daily-quiz" };
    expect(await finishCancels(ports, registry, { signal, only })).toEqual({ "jobs.canceled": 5 });
    expect(calls[0]).toBe(`canceling ${runLimits.cancelingRunsMax} {"withdrawn":"daily-quiz"}`);
    expect(calls.filter((call) => call.startsWith("run "))).toEqual(["run 7 {}", "run 8 {}", "run 9 {}", "run 10 {}"]);
  });

  test("are none when no run is canceling", async () => {
    const { ports, calls } = stage({});
    const { signal } = new AbortController();
    expect(await finishCancels(ports, registry, { signal })).toEqual({ "jobs.canceled": 0 });
    expect(calls).toHaveLength(1);
  });

  test("are left to the next pass from the moment this one has to end", async () => {
    const stop = new AbortController();
    const { ports, calls } = stage({ 7: [{ canceled: 3 }, end], 8: [{ canceled: 2 }, end] }, () => stop.abort());
    expect(await finishCancels(ports, registry, { signal: stop.signal })).toEqual({ "jobs.canceled": 3 });
    expect(calls.filter((call) => call.startsWith("run "))).toEqual(["run 7 {}"]);
    expect(await finishCancels(ports, registry, { signal: AbortSignal.abort() })).toEqual({ "jobs.canceled": 0 });
  });
});

import { atOnce } from "../support/rescue-at-once.ts";
import { describe, expect, test } from "vitest";
import { defineGraph } from "../../src/compose/index.ts";
import { afterCommit } from "../../src/run/after-commit.ts";
import { drain } from "../../src/run/drain.ts";
import { encodeMessage } from "../../src/run/message.ts";
import { rescue } from "../../src/run/rescue.ts";
import type { Job } from "../../src/define/context.ts";
import type { JobId } from "../../src/machine/job.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { runLimits } from "../../src/machine/run-limits.ts";
import { noAftermath } from "../../src/machine/outbox.ts";
import { type Store } from "../../src/machine/store.ts";
import { stateOf, startedRun, type Driven } from "../runs/drive.ts";
import { jobOf, lane, sum, down, withStore } from "./world.ts";

const chain = (run: () => void = () => {}): Job<undefined> =>
  defineGraph({
    id: "chain",
    version: 1,
    tasks(task) {
      const a = task("a", { run: () => run() });
      task("b", { after: { a }, run: () => null });
    },
  });

const taskId = async (run: Driven, name: string): Promise<JobId> => {
  const found = (await run.shop.world.store.tasks(run.id)).find(({ task }) => task === name);
  if (found === undefined) throw new Error(`the run has no task "${name}"`);
  return found.jobId;
};

const runState = async (run: Driven) => (await run.shop.world.store.run(run.id))?.state;

describe("the run of a task that ends without its worker is resolved before the answer", () => {
  test("when its message died unclaimed for the last time", async () => {
    const run = await startedRun(chain(), undefined);
    const { world: ports, registry } = run.shop;
    const jobId = await taskId(run, "a");
    for (let death = 1; death <= contractLimits.undeliveredMax; death += 1) {
      const { generation } = await jobOf(ports, jobId);
      const body = encodeMessage({ jobId, generation, trace: "" });
      await drain(ports, registry, [{ messageId: "dead", body }], { lane });
      if (death < contractLimits.undeliveredMax) await ports.store.relay({ limit: 10 });
    }
    expect([await stateOf(run), await runState(run)]).toEqual([{ a: "FAILED", b: "SKIPPED" }, "FAILED"]);
  });

  test("when it is rescued for the last time", async () => {
    const run = await startedRun(chain(), undefined);
    const { world: ports, registry } = run.shop;
    const jobId = await taskId(run, "a");
    for (let lost = 1; lost <= contractLimits.interruptionsMax; lost += 1) {
      const { state, generation } = await jobOf(ports, jobId);
      if (state !== "QUEUED") break;
      // Alone, so that each loss is a failure.
      await ports.store.claim([{ jobId, generation, trace: "" }], { worker: "gone", alone: true });
      await ports.clock.advance(contractLimits.leaseMsMax + 1);
      await rescue(ports, registry, { lapsed: atOnce, limit: 10, rounds: 1 });
    }
    expect([await stateOf(run), await runState(run)]).toEqual([{ a: "FAILED", b: "SKIPPED" }, "FAILED"]);
  });
});

describe("what fails after a commit", () => {
  const broken = (faults: Partial<Store>) => withStore(() => faults);
  const left = { ...noAftermath, runs: ["1" as never], freed: ["cap:x"], leftToRelay: [lane] };

  test("is left to the next pass: one line and one metric for each step, and no error", async () => {
    const ports = broken({ resolve: down, wake: down, relay: down });
    await afterCommit(ports, left);
    const lines = ports.lines.filter(({ level }) => level === "warn");
    expect(lines.map(({ fields }) => fields["step"])).toEqual(["resolve", "wake", "relay"]);
    expect(sum(ports.measured, "aftermath.failed")).toBe(3);
  });

  test.each([
    ["resolve", { runs: ["1" as never] }],
    ["wake", { freed: ["cap:x"] }],
    ["relay", { leftToRelay: [lane] }],
  ])("of %s alone asks for nothing else", async (step, only) => {
    const ports = broken({ resolve: down, wake: down, relay: down, confirm: down });
    await afterCommit(ports, { ...noAftermath, ...only });
    expect(ports.lines.map(({ fields }) => fields["step"])).toEqual([step]);
  });

  test.each([
    [true, 0, 1],
    [true, 1, runLimits.resolveRoundsMax],
    [false, 0, 1],
    [false, 1, 1],
  ])("is resolved on while there is more: %s, and something was done: %d steps", async (more, steps, want) => {
    let rounds = 0;
    const resolved = { steps, more, closed: [], aftermath: noAftermath };
    await afterCommit(broken({ resolve: async () => ((rounds += 1), resolved) }), {
      ...noAftermath,
      runs: ["1" as never],
    });
    expect(rounds).toBe(want);
  });
});

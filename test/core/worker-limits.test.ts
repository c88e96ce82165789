import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob } from "../../src/define/define-job.ts";
import { gate, jobOf, shop, down, withStore } from "./world.ts";

const plenty = () => 600_000;
const to = z.object({ to: z.string() });

describe("a handler that meets a process without file descriptors", () => {
  const noFiles = new Error("fetch failed", { cause: Object.assign(new Error("connect EMFILE"), { code: "EMFILE" }) });
  const fetches = defineJob({
    id: "fetches",
    payload: to,
    run: ({ to: name }) => {
      if (name === "out") throw noFiles;
    },
  });

  test.each([
    [["out"], ["QUEUED 1"]],
    [
      ["out", "fine"],
      ["RUNNING 0", "SUCCESS 0"],
    ],
  ])("is charged if it ran alone, else its lease ends with the process: %j", async (names, rows) => {
    const { enqueue, worker, receive, world: ports } = await shop([fetches]);
    const ids = await Promise.all(names.map((name) => enqueue(fetches, { to: name })));
    expect(await worker.handle(receive(), { remainingMs: plenty })).toEqual({ failed: [] });
    expect(worker.isSpent).toBe(true);
    const shown = await Promise.all(ids.map((id) => jobOf(ports, id)));
    expect(shown.map(({ state, failures }) => `${state} ${failures}`)).toEqual(rows);
    expect(ports.clock.pending()).toBe(0);
  });
});

test.each([
  [600_000, 1_000],
  [3_500, 500],
  [1_000, 0],
])("with %s ms left of its time a worker pauses %s ms before it gives messages back", async (leftMs, pauseMs) => {
  const hello = defineJob({ id: "hello", run: () => {} });
  const ports = withStore(() => ({ claim: down }));
  const { enqueue, work } = await shop([hello], ports);
  await enqueue(hello, undefined);
  const ended = work({ remainingMs: () => leftMs }).then(() => ports.clock.elapsedMs());
  await ports.clock.advance(5_000);
  expect(await ended).toBe(pauseMs);
});

test("the lease of a job is renewed while its outcome is written, after its handler has ended", async () => {
  const open = gate();
  const hello = defineJob({ id: "hello", lease: "30s", run: () => {} });
  const ports = withStore((store) => ({
    settle: async (...call) => {
      await open.promise;
      return store.settle(...call);
    },
  }));
  const { enqueue, work } = await shop([hello], ports);
  const id = await enqueue(hello, undefined);
  const batch = work();
  await ports.clock.advance(60_000);
  expect((await ports.store.lapsedLeases({ limit: 10 })).map((lease) => lease.id)).toEqual([]);
  open.open();
  expect(await batch).toEqual([]);
  expect((await jobOf(ports, id)).state).toBe("SUCCESS");
});

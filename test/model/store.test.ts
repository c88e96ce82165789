import { describe, expect, test } from "vitest";
import { aJob, failure, settleOptions, settlementOf } from "../contract/store/fixture.ts";
import { compare, expectEqualTables, openPair, startMs } from "./model.ts";

function raise(): never {
  throw new Error("no job was inserted");
}

describe("Postgres and the reference store", () => {
  test("forget the progress of an earlier try when a claim refuses the next one", async () => {
    const { pair, close } = await openPair();
    const worker = { worker: "worker-1", alone: false } as const;
    const claim = async (generation: number): Promise<void> =>
      pair.both((store, id) => store.claim([{ jobId: id(pair.jobs[0] ?? raise()), generation, trace: "t" }], worker));
    const soon = aJob({ payload: pair.mark(), expiresAt: startMs + 60_000 });
    await pair.both((store) => store.insert([soon]));
    await claim(1);
    await pair.both((store, id) =>
      store.heartbeat([{ jobId: id(pair.jobs[0] ?? raise()), attempt: 1, progress: 0.5 }], "worker-1"),
    );
    await pair.both((store, id) =>
      store.settle([settlementOf({ jobId: id(pair.jobs[0] ?? raise()), attempt: 1 }, failure)], settleOptions),
    );
    await pair.advance(60_000);
    await claim(2);
    await expectEqualTables(pair);
    expect(await pair.real.job(pair.jobs[0]?.real ?? raise())).toMatchObject({
      state: "SKIPPED",
      progress: null,
    });
    await close();
  });

  test("answer the same random sequence of calls alike, and end with equal tables", async () => {
    const wanted = ["job PENDING", "job QUEUED", "job RUNNING", "job SUCCESS", "run DONE", "rows DONE", "time PLANNED"];
    expect(await compare(20_260_201, 24)).toEqual(expect.arrayContaining(wanted));
  });
});

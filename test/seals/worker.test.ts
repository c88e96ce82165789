import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob, PermanentError } from "../../src/compose/index.ts";
import { openSeals } from "../../src/aws/seals.ts";
import type { JobId, Json } from "../../src/machine/job.ts";
import type { Seals } from "../../src/machine/seal.ts";
import { ownSeals } from "../../src/testing/own-seals.ts";
import { acknowledge, jobOf, shop, type Shop, world } from "../core/world.ts";

const payload = z.object({ card: z.string() });
const none: Seals = openSeals({ keys: {}, region: "us-east-1", kmsEndpoint: null, isDualStack: false }, world().clock);

/** A lane whose worker may be given or denied the key while it runs. */
async function lane() {
  const ran: string[] = [];
  const run = ({ card }: { card: string }) => void ran.push(card);
  const pay = defineJob({ id: "pay", seal: "payroll", payload, run });
  const print = defineJob({ id: "print", seal: "payroll", payload, run });
  const own = ownSeals();
  const keys = { opens: own };
  const seals: Seals = { seal: own.seal, open: (by, text) => keys.opens.open(by, text) };
  const made = await shop(
    [pay, print],
    world(() => ({ seals })),
  );
  const id = await made.enqueue(pay, { card: "secret" });
  return { made, ran, pay, print, keys, id, row: () => jobOf(made.world, id) };
}

async function live({ world: ports, worker, receive }: Shop, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 60_000) {
    await ports.clock.advance(60_000);
    const records = receive();
    acknowledge(ports, records, (await worker.handle(records, { remainingMs: () => 600_000 })).failed);
  }
}

/** As who can write to the database would. */
const write = ({ world: { store } }: Shop, id: JobId, stored: Json): void => {
  const row = store.tables.jobs.get(Number(id));
  if (row !== undefined) Object.assign(row, { payload: stored });
};

describe("a sealed job", () => {
  test("waits for the key and pays no attempt for it; its row says which key is missing", async () => {
    const { made, ran, keys, row } = await lane();
    const own = keys.opens;
    keys.opens = none;
    await live(made, 600_000);
    expect(await row()).toMatchObject({
      failures: 0,
      interruptions: 0,
      errorCode: "SEAL_UNAVAILABLE",
      errorMessage: expect.stringContaining('no key "payroll" here'),
    });
    keys.opens = own;
    await live(made, 120_000);
    expect(await row()).toMatchObject({ state: "SUCCESS", failures: 0 });
    expect(ran).toEqual(["secret"]);
  });

  test("is FAILED after a day without the key, so that an alarm says so", async () => {
    const { made, keys, row } = await lane();
    keys.opens = none;
    await live(made, 120_000);
    await made.world.clock.advance(86_400_000);
    await live(made, 120_000);
    expect(await row()).toMatchObject({ state: "FAILED", errorCode: "SEAL_UNAVAILABLE" });
    expect((await row()).errorMessage).toContain("let this worker use the key, then retry the job");
  });

  test("opens with no key but its own", async () => {
    const { made, ran, keys, row } = await lane();
    keys.opens = ownSeals();
    await live(made, 60_000);
    expect(await row()).toMatchObject({ state: "FAILED", errorCode: "SEAL_BROKEN" });
    expect(ran).toEqual([]);
  });

  test("is refused with a payload that was sealed for another kind of the same key", async () => {
    const { made, ran, print, row } = await lane();
    const other = await made.enqueue(print, { card: "other" });
    write(made, other, (await row()).payload);
    await live(made, 60_000);
    expect(await jobOf(made.world, other)).toMatchObject({ state: "FAILED", errorCode: "SEAL_BROKEN" });
    expect(ran).toEqual(["secret"]);
  });

  test("is the same job when its key comes again, though its payload is sealed to another text", async () => {
    const { made, pay } = await lane();
    const first = await made.enqueue(pay, { card: "one" }, { key: "k" });
    expect(await made.enqueue(pay, { card: "one" }, { key: "k" })).toBe(first);
  });

  test("keeps an error's code, and not its text", async () => {
    const fail = defineJob({
      id: "fail",
      seal: "payroll",
      payload,
      run({ card }) {
        throw new PermanentError(`refused ${card}`, { code: "REFUSED" });
      },
    });
    const made = await shop(
      [fail],
      world(() => ({ seals: ownSeals() })),
    );
    const id = await made.enqueue(fail, { card: "secret" });
    await made.work();
    expect(await jobOf(made.world, id)).toMatchObject({ errorCode: "REFUSED", errorMessage: "[sealed]" });
  });

  test("is not written where the process has no key", async () => {
    const pay = defineJob({ id: "pay", seal: "payroll", payload, run() {} });
    const made = await shop([pay]);
    await expect(made.enqueue(pay, { card: "secret" })).rejects.toThrow('"pay" is sealed by "payroll"');
    expect(made.world.store.tables.jobs.size).toBe(0);
  });
});

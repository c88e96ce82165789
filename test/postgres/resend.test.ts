import { describe, expect, test } from "vitest";
import type { JobId } from "../../src/machine/job.ts";
import { resendOpen } from "../../src/run/relay.ts";
import { sendOutbox } from "../../src/run/send.ts";
import type { Queue } from "../../src/machine/ports.ts";
import { aJob } from "../contract/store/fixture.ts";
import { settableClock, type SettableClock } from "../core/settable-clock.ts";
import { world } from "../core/world.ts";
import { testDatabase } from "../support/database.ts";

const callMs = 300;
const stepMs = 100;
const second = 1_000;

/** A process with timers of its own, which stand while it is stopped; its calls of the queue take `callMs`. */
interface Sender {
  readonly ports: ReturnType<typeof world>;
  readonly clock: SettableClock;
  /** So long it was stopped: time has passed, and no timer has run. */
  stoppedMs: number;
  /** What it asked the queue to take, in order. */
  readonly sent: JobId[];
}

/** A database whose clock stands unless the test moves it, and processes that send what it decided. */
async function stage() {
  const db = await testDatabase();
  await db.clock.set(0);
  const under = { calls: 0 };
  const store = new Proxy(db.store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...given: unknown[]): Promise<unknown> => {
        under.calls += 1;
        try {
          return await Reflect.apply(member, target, given);
        } finally {
          under.calls -= 1;
        }
      };
    },
  });
  const sender = (answer: Queue["send"] = async () => ({ failed: [] })): Sender => {
    const timers = settableClock();
    const clock = { ...timers, elapsedMs: () => timers.elapsedMs() + self.stoppedMs };
    const sent: JobId[] = [];
    const send: Queue["send"] = async (lane, messages) => {
      sent.push(...messages.map(({ jobId }) => jobId));
      await clock.sleep(callMs);
      return await answer(lane, messages);
    };
    const ports = world((base) => ({
      store,
      clock,
      queue: { ...base.queue, send },
    }));
    const self: Sender = { ports, clock, sent, stoppedMs: 0 };
    return self;
  };
  /** Every call of the store that these processes began has ended, with what followed from it. */
  const quiet = async (clock: SettableClock): Promise<void> => {
    do {
      await expect.poll(() => under.calls, { interval: 1, timeout: 60_000 }).toBe(0);
      await clock.settle();
    } while (under.calls > 0);
  };
  /** Time of the database, and of the processes that are not stopped. */
  const pass = async (ms: number, ...running: readonly Sender[]): Promise<void> => {
    for (let left = ms; left > 0; left -= stepMs) {
      await db.clock.advance(stepMs);
      for (const { clock } of running) {
        await clock.advance(stepMs);
        await quiet(clock);
      }
    }
  };
  const insert = async (jobs: number) => (await db.store.insert(Array.from({ length: jobs }, () => aJob()))).aftermath;
  const open = async (): Promise<number[]> => {
    const { rows } = await db.pool.query<{ n: number }>(
      "select cardinality(job_ids) as n from belfry.outbox order by id",
    );
    return rows.map(({ n }) => n);
  };
  return { sender, pass, quiet, insert, open };
}

describe("a batch that takes longer to send than it may stay open", () => {
  test("is sent once, however often other processes look for open batches", async () => {
    const { sender, pass, insert, open } = await stage();
    const [first, beside] = [sender(), sender()];
    const { outbox } = await insert(1_000);
    const work = [sendOutbox(first.ports, outbox)];
    for (let look = 0; look < 12; look += 1) {
      await pass(second, first, beside);
      work.push(resendOpen(beside.ports, { rounds: 1 }).then(({ resent = 0 }) => resent));
    }
    await pass(second, first, beside);
    expect(beside.sent).toEqual([]);
    expect(first.sent).toHaveLength(1_000);
    expect((await Promise.all(work))[0]).toBe(1_000);
    expect(await open()).toEqual([]);
  });

  test("is sent again without what was confirmed when its sender is stopped, which then sends no more of it", async () => {
    const { sender, pass, quiet, insert, open } = await stage();
    const [stopped, other] = [sender(), sender()];
    const { outbox } = await insert(400);
    const sending = sendOutbox(stopped.ports, outbox);
    await pass(1.5 * second, stopped);
    const before = [...stopped.sent];
    const [left = 0] = await open();
    expect(left).toBeLessThan(400);
    await pass(6 * second, other);
    const resending = resendOpen(other.ports, { rounds: 1 });
    await quiet(other.clock);
    stopped.stoppedMs = 6 * second;
    await pass(6 * second, stopped, other);
    await Promise.all([sending, resending]);
    expect(stopped.sent).toEqual(before);
    expect(other.sent).toHaveLength(left);
    expect(new Set([...before, ...other.sent]).size).toBe(400);
    expect(await open()).toEqual([]);
  });
});

describe("after a queue was away", () => {
  const away: Queue["send"] = async (_lane, messages) => ({ failed: messages.map((_, index) => index) });

  test("batches stay as they are, and a page of them can be sent in a few seconds", async () => {
    const { sender, pass, insert, open } = await stage();
    const one = sender(away);
    for (let n = 0; n < 20; n += 1) await insert(100);
    await pass(6 * second);
    const resending = resendOpen(one.ports, { rounds: 1 });
    await pass(5 * second, one);
    expect(one.sent).toHaveLength(500);
    expect(await resending).toEqual({ resent: 500 });
    expect(await open()).toEqual(Array.from({ length: 20 }, () => 100));
  });
});

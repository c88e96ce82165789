import { describe, expect, test } from "vitest";
import { world, type World, down, withStore } from "./world.ts";
import { acquire, diedHolding, held, leaseMs, name, watched } from "./lock-rig.ts";

describe("the silence of a holder that several tasks watch", () => {
  /** Tasks that each live for 3 s, and what follows after so many of them: when the last one began, if it took over. */
  async function shortLives(ports: World, everyMs: number, between: (n: number) => void = () => {}) {
    const startedMs = ports.clock.elapsedMs();
    for (let n = 0; n < 12; n += 1) {
      between(n);
      const killed = new AbortController();
      const got = watched(acquire(ports, `task ${n}`, { signal: killed.signal }));
      const beganMs = ports.clock.elapsedMs() - startedMs;
      await ports.clock.advance(3_000);
      if (got.value?.got === "lock") return beganMs;
      killed.abort();
      await ports.clock.advance(everyMs - 3_000);
    }
    return null;
  }

  test("tasks that live for three seconds each take over once the holder was silent for its lease", async () => {
    const ports = world();
    await diedHolding(ports);
    expect(await shortLives(ports, 10_000)).toBe(leaseMs);
  });

  test("of the time between two tasks half a lease counts, so that one step of the database's clock is not a lease", async () => {
    const ports = world();
    await diedHolding(ports);
    expect(await shortLives(ports, 60_000)).toBe(2 * 60_000);
    let stepMs = 0;
    const stepped = withStore((store) => ({ now: async () => (await store.now()) + stepMs }));
    await diedHolding(stepped);
    expect(await shortLives(stepped, 4_000, (n) => (stepMs = n === 0 ? 0 : 3_600_000))).toBe(16_000);
  });

  test("a holder that beats is never taken over, however the database's clock steps between the looks", async () => {
    let stepMs = 0;
    const ports = withStore((store) => ({ now: async () => (await store.now()) + (stepMs += 7_000_000) }));
    const live = held(await acquire(ports, "live"));
    expect(await shortLives(ports, 9_000)).toBeNull();
    expect(live.lost.aborted).toBe(false);
  });

  test("a heartbeat between two tasks, a clock that went back, and a database without an answer make the sum begin again", async () => {
    const beats = world();
    const fence = await diedHolding(beats);
    expect(await shortLives(beats, 10_000, (n) => void beats.locks.renew(name, "dead", fence, `r${n}`))).toBeNull();
    let steps = 0;
    const back = withStore((store) => ({ now: async () => (await store.now()) - ++steps * 3_600_000 }));
    await diedHolding(back);
    const away = withStore(() => ({ now: down }));
    await diedHolding(away);
    // What each saw on its own timer is all that counts.
    for (const ports of [back, away]) expect(await shortLives(ports, 10_000)).toBe(90_000);
  });

  test("what was seen of an earlier heartbeat does not count", async () => {
    const ports = world();
    const fence = await diedHolding(ports);
    await ports.locks.observe(name, { rvn: "r0", silentMs: leaseMs - 1_000, seenAt: await ports.store.now() });
    await ports.locks.renew(name, "dead", fence, "r1");
    await ports.clock.advance(10 * leaseMs);
    const got = watched(acquire(ports, "b"));
    await ports.clock.advance(leaseMs - 1);
    expect(got.value).toBeNull();
  });
});

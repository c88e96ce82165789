import { expect, test } from "vitest";
import { letPass } from "../proof/until.ts";
import { openFailingStore } from "./failing-store.ts";

/** The bar is 20; a few of each find a mapping that is wrong. */
const rounds = Number(process.env["STORE_ROUNDS"] ?? 2);
const everyMs = 50;

type Failing = Awaited<ReturnType<typeof openFailingStore>>;

/** What was asked for while the store failed, 20 requests a second: reads and creates in turn. */
async function underLoad(store: Failing, work: (load: { readonly acknowledged: number }) => Promise<void>) {
  const asked: Promise<{ key: string | null; status: number; code: string | null; retryAfter: string | null }>[] = [];
  const load = { on: true, acknowledged: 0 };
  const sending = (async () => {
    for (let n = 0; load.on; n += 1) {
      const key = n % 2 === 0 ? `k${performance.now()}` : null;
      const [method, path] = n % 4 === 1 ? (["GET", "/jobs"] as const) : (["GET", "/readyz"] as const);
      const answer =
        key === null ? store.call(method, path) : store.call("POST", "/jobs", { kind: "ping", key, delay: "1h" });
      asked.push(
        answer.then(({ status, body, headers }) => {
          if (key !== null && status === 201) load.acknowledged += 1;
          return { key, status, code: body.code ?? null, retryAfter: headers.get("retry-after") };
        }),
      );
      await letPass(everyMs);
    }
  })();
  await work(load);
  load.on = false;
  await sending;
  return await Promise.all(asked);
}

test("a Postgres that is killed or frozen under load is 503 and never 500, and no job is lost or made twice", async () => {
  const store = await openFailingStore();
  const answers = await underLoad(store, async (load) => {
    for (let round = 0; round < rounds; round += 1) {
      await letPass(300);
      await store.kill();
      await letPass(300);
      await store.restart();
      await letPass(300);
      const goOn = store.freeze();
      // Longer than a statement may take, once; a short one only slows requests down.
      await letPass(round === 0 ? 6_000 : 1_000);
      goOn();
    }
    await letPass(1_000);
    // On a busy machine it takes longer until it serves again.
    while (load.acknowledged <= 5) await letPass(everyMs);
  });
  const statuses = Map.groupBy(answers, ({ status }) => status);
  expect([...statuses.keys()].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
  expect(statuses.get(503)?.length).toBeGreaterThan(5);
  const refused = statuses.get(503) ?? [];
  expect(refused.filter(({ code, retryAfter }) => retryAfter === null || !code?.match(/^(store|outcome)-/))).toEqual(
    [],
  );
  expect(refused.filter(({ key, code }) => key === null && code === "outcome-unknown")).toEqual([]);
  const acknowledged = answers.filter(({ key, status }) => key !== null && status === 201);
  expect(acknowledged.length).toBeGreaterThan(5);
  // Sent again with its key, each create ends as one job, whether its first answer was a yes or not.
  for (const { key, status } of answers.filter((each) => each.key !== null)) {
    const again = await store.call("POST", "/jobs", { kind: "ping", key });
    const allowed = status === 201 ? [200] : [200, 201];
    expect({ key, allowed: allowed.includes(again.status) }).toEqual({ key, allowed: true });
  }
  const { rows } = await store.pool.query<{ keys: number; jobs: number }>(
    "select count(distinct key)::int as keys, count(*)::int as jobs from belfry.job",
  );
  expect(rows[0]?.jobs).toBe(rows[0]?.keys);
}, 600_000);

test("a key that an open transaction holds is refused by name, and only that request waits", async () => {
  const store = await openFailingStore();
  const holder = await store.pool.connect();
  try {
    await store.call("POST", "/jobs", { kind: "ping", key: "first" });
    await holder.query("begin");
    await holder.query(
      `insert into belfry.job (kind, key, payload, lane, state, event_id, due_at, lease_ms, max_attempts,
         retention_ms, slot_keys, trace, created_at)
       select kind, 'held', payload, lane, 'PENDING', 0, due_at + interval '1 day', lease_ms, max_attempts,
         retention_ms, slot_keys, trace, created_at from belfry.job limit 1`,
    );
    const held = store.call("POST", "/jobs", { kind: "ping", key: "held" });
    const others = Array.from({ length: 20 }, (_, n) => store.call("POST", "/jobs", { kind: "ping", key: `o${n}` }));
    const written = await Promise.all(others);
    expect(await Promise.race([held, Promise.resolve("it waits")])).toBe("it waits");
    expect(written.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    const refused = await held;
    expect(refused).toMatchObject({ status: 409, body: { code: "key-held", key: "held" } });
    expect(refused.headers.get("retry-after")).not.toBeNull();
  } finally {
    await holder.query("rollback");
    holder.release();
  }
  expect((await store.call("POST", "/jobs", { kind: "ping", key: "held" })).status).toBe(201);
}, 120_000);

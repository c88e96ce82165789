import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { eventSink } from "../../src/aws/events/sink.ts";
import { webhookSink } from "../../src/aws/events/webhook.ts";
import { publishLimits } from "../../src/insight/publish-limits.ts";
import { type EventSink, publishing, publishPage } from "../../src/insight/publish.ts";
import { openApi } from "../api/harness.ts";
import { type Received, receiver } from "./sink.ts";
import { otherSession } from "../support/database.ts";

const secret = "a secret of the test";
const ok = { status: 204 };

/** A system whose publisher has begun, and jobs of which nothing was published. */
async function begun(jobs = 3) {
  const opened = await openApi();
  const publish = (sink: EventSink, owner = "ada") => publishPage(opened.ports, opened.insight, { sink, owner });
  await publish(nowhere);
  for (let n = 0; n < jobs; n += 1) await opened.call("POST", "/jobs", { kind: "ping", key: `k${n}` });
  const marked = async (): Promise<readonly boolean[]> => {
    const { rows } = await opened.pool.query<{ is: boolean }>(
      "select published_at is not null as is from belfry.event order by id",
    );
    return rows.map((row) => row.is);
  };
  return { ...opened, publish, marked };
}

const nowhere: EventSink = { name: "nowhere", send: () => Promise.resolve() };
const hook = (url: string): EventSink => webhookSink({ url, secrets: [secret], source: "belfry/test" });
const idsOf = (received: readonly Received[]): string[] =>
  received.flatMap(({ body }) => (JSON.parse(body) as { events: { id: string }[] }).events.map(({ id }) => id));

test("while its secret is exchanged, what is sent has a signature under the new and the old one", async () => {
  const { publish } = await begun(1);
  const { url, received } = await receiver(() => ok);
  const secrets = ["0123456789abcdef-new", "0123456789abcdef-old"];
  const settings = { kind: "webhook", url, secrets: null } as const;
  const options = { stage: "test", region: "eu-west-1", endpoint: null };
  expect(await publish(eventSink(settings, { ...options, secret: secrets.join(",") }))).toBe(1);
  const { headers, body } = received[0] ?? { headers: {}, body: "" };
  const [at, ...given] = String(headers["belfry-signature"]).split(",");
  const under = (key: string) =>
    createHmac("sha256", key)
      .update(`${at?.slice(2)}.${body}`)
      .digest("hex");
  expect(given).toEqual(secrets.map((key) => `v1=${under(key)}`));
  expect(() => eventSink(settings, { ...options, secret: "0123456789abcdef,short" })).toThrow(/two such secrets/);
  expect(() => eventSink(settings, options)).toThrow(/was not read/);
});

test("each call is signed by the time at which it is sent: a receiver refuses what is old", async () => {
  const { url, received } = await receiver(() => ok);
  let now = 1_000;
  const sink = webhookSink({ url, secrets: [secret], source: "belfry/test", nowSeconds: () => now });
  now = 2_000;
  await sink.send([], new AbortController().signal);
  const { headers, body } = received[0] ?? { headers: {}, body: "" };
  const hash = createHmac("sha256", secret).update(`2000.${body}`).digest("hex");
  expect(headers["belfry-signature"]).toBe(`t=2000,v1=${hash}`);
});

test("each event goes to the webhook once, signed, in order, and is marked", async () => {
  const { publish, marked } = await begun();
  const { url, received } = await receiver(() => ok);
  expect(await publish(hook(url))).toBe(3);
  expect(await publish(hook(url))).toBe(0);
  expect(await marked()).toEqual([true, true, true]);
  expect(received).toHaveLength(1);
  const { headers, body } = received[0] ?? { headers: {}, body: "" };
  const [, at = "", given] = /^t=(\d+),v1=([\da-f]{64})$/.exec(String(headers["belfry-signature"])) ?? [];
  expect(given).toBe(createHmac("sha256", secret).update(`${at}.${body}`).digest("hex"));
  expect(JSON.parse(body)).toMatchObject({
    source: "belfry/test",
    events: [
      { kind: "ping", key: "k0", from: null, to: "QUEUED" },
      { key: "k1", id: expect.stringMatching(/^[0-9a-f]{8}\.\d+\.\d+\.\d+$/) as string },
      { key: "k2" },
    ],
  });
});

test("events are marked in whichever order their statements began", async () => {
  const { publish, marked, call, advance } = await begun(0);
  const hour = 3_600_000;
  for (const [key, ms] of Object.entries({ last: 48 * hour, first: -48 * hour, between: 24 * hour })) {
    await advance(ms);
    await call("POST", "/jobs", { kind: "ping", key });
  }
  expect(await publish(nowhere)).toBe(3);
  expect(await marked()).toEqual([true, true, true]);
});

test("a sink that refuses gets the same events under the same ids, later each time, and nothing is marked in between", async () => {
  const { publish, marked, advance, logged } = await begun();
  const { url, received } = await receiver((n) => ({ status: n <= 2 ? 500 : 200 }));
  expect(await publish(hook(url))).toBe(0);
  expect(await publish(hook(url))).toBe(0);
  expect(received).toHaveLength(1);
  await advance(publishLimits.publishRetryMs);
  await publish(hook(url));
  await advance(publishLimits.publishRetryMs);
  await publish(hook(url));
  expect(received).toHaveLength(2);
  expect(await marked()).toEqual([false, false, false]);
  await advance(publishLimits.publishRetryMs);
  expect(await publish(hook(url))).toBe(3);
  expect(await marked()).toEqual([true, true, true]);
  const ids = idsOf(received);
  expect(ids.slice(0, 3)).toEqual(ids.slice(6));
  expect(logged.filter(({ message }) => message.includes("not accepted"))).toHaveLength(2);
});

test("a process that dies between sending and marking is followed by one that sends the same ids; the books count once", async () => {
  const { publish, insight, marked, advance } = await begun();
  const { url, received } = await receiver(() => ok);
  const { transaction } = insight;
  insight.transaction = () => Promise.reject(new Error("killed"));
  await expect(publish(hook(url), "dead")).rejects.toThrow("killed");
  insight.transaction = transaction;
  expect(await publish(hook(url), "heir")).toBe(0);
  await advance(publishLimits.publishLeaseMs);
  expect(await publish(hook(url), "heir")).toBe(3);
  const ids = idsOf(received);
  expect(ids.slice(3)).toEqual(ids.slice(0, 3));
  expect(await marked()).toEqual([true, true, true]);
});

test("of two publishers one sends; a late owner cannot mark what another has marked", async () => {
  const { publish, pool, marked, advance } = await begun();
  const { url, received } = await receiver(() => ok);
  const slow: EventSink = {
    name: "slow",
    async send() {
      expect(await publish(hook(url), "other")).toBe(0);
      await advance(publishLimits.publishLeaseMs);
      expect(await publish(hook(url), "other")).toBe(3);
      await pool.query("update belfry.event set published_at = 'epoch'");
    },
  };
  expect(await publish(slow, "slow")).toBe(0);
  expect(received).toHaveLength(1);
  expect(await marked()).toEqual([true, true, true]);
  const { rows } = await pool.query("select 1 from belfry.event where published_at <> 'epoch'");
  expect(rows).toEqual([]);
});

test("a late commit is published after what overtook it, and an open transaction holds nothing up", async () => {
  const { publish, pool, call } = await begun(0);
  const { url, received } = await receiver(() => ok);
  const late = await otherSession(pool);
  await late.query(
    "insert into belfry.event (id, at, to_state, job_ids, attempts, generations) values (belfry.next_event(), belfry.now(), 'QUEUED', array[1::bigint], array[0], array[1])",
  );
  await call("POST", "/jobs", { kind: "ping" });
  expect(await publish(hook(url))).toBe(1);
  await late.query("commit");
  expect(await publish(hook(url))).toBe(1);
  expect(new Set(idsOf(received)).size).toBe(2);
});

test("a sink that never answers is given up in time, and what runs beside the publisher goes on", async () => {
  const opened = await begun();
  const { url, received } = await receiver(() => null);
  let giveUp = (): void => {};
  const clock = { ...opened.ports.clock, after: (_: number, run: () => void) => ((giveUp = run), () => {}) };
  const sending = publishPage({ ...opened.ports, clock }, opened.insight, { sink: hook(url), owner: "ada" });
  await expect.poll(() => received.length).toBe(1);
  expect(await opened.call("POST", "/jobs", { kind: "ping", key: "in-between" })).toMatchObject({ status: 201 });
  giveUp();
  expect(await sending).toBe(0);
});

test("the loop ends with its signal and survives a database that does not answer", async () => {
  const { ports, insight } = await begun(0);
  const stop = new AbortController();
  let looks = 0;
  insight.run = () => {
    looks += 1;
    if (looks === 3) stop.abort();
    return Promise.reject(new Error("away"));
  };
  const clock = { ...ports.clock, sleep: () => Promise.resolve() };
  await publishing({ ...ports, clock }, insight, { sink: nowhere, owner: "ada", signal: stop.signal });
  expect(looks).toBe(3);
});

import { expect, test } from "vitest";
import { z } from "zod";
import { defineApp } from "../../src/define/define-app.ts";
import { defineFanOut } from "../../src/define/define-fan-out.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import { pass } from "../../src/schedule/pass.ts";
import { createWorker } from "../../src/run/worker.ts";
import { openApi } from "../api/harness.ts";

const minute = 60_000;
const users = ["ada", "bob", "cy"];

/** The API at 08:00 with a fan-out that writes its targets ten minutes before, and a worker and passes by hand. */
async function openQuiz() {
  const sent: string[] = [];
  const push = defineJob({ id: "push", payload: z.object({ user: z.string() }), run: (p) => void sent.push(p.user) });
  const quiz = defineFanOut({
    id: "quiz",
    from: async function* () {
      for (const id of users) yield { id };
    },
    key: (row, moment) => `${moment.day}:${row.id}`,
    each: push,
    payload: (row) => ({ user: row.id }),
    materializeBefore: "10m",
  });
  const app = defineApp({ name: "quiz-app", jobs: [push, quiz] });
  const definitions = registry([app]);
  const opened = await openApi([app]);
  const { ports, advance } = opened;
  const options = { stage: "dev" };
  const worker = createWorker(ports, definitions, { ...options, worker: "w", lane: "default" });
  const live = async (minutes: number): Promise<void> => {
    for (let n = 0; n <= minutes; n += 1) {
      if (n > 0) await advance(minute);
      await pass(ports, definitions, { ...options, signal: new AbortController().signal });
      for (let some = ports.queue.receive("default", 10); some.length > 0; some = ports.queue.receive("default", 10)) {
        await worker.handle(some, { remainingMs: () => 600_000 });
        ports.queue.delete(
          "default",
          some.map((one) => one.messageId),
        );
      }
    }
  };
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await opened.call(method, path, method === "GET" ? undefined : (body ?? {}));
    expect(answer.status).toBeLessThan(300);
    return answer.body as unknown as Record<string, unknown>;
  };
  const put = (cron: string) => call("PUT", "/schedules/daily", { kind: "quiz", cron, timezone: "UTC" });
  await call("POST", "/schedules", { id: "daily", kind: "quiz", cron: "20 8 * * *", timezone: "UTC" });
  const explain = async (time: string) => {
    const { answers } = await call("GET", `/schedules/daily/explain?time=${time}`);
    return (answers as { verdict: string; advice: string | null }[])[0] ?? { verdict: "none", advice: null };
  };
  return { sent, live, call, put, explain, store: opened.store };
}

test("a quiz that is moved after its targets were written is sent once, at its new time", async () => {
  const { sent, live, put, store } = await openQuiz();
  await live(12);
  expect(await store.runs()).toMatchObject([{ state: "RUNNING", total: 3 }]);
  await put("24 8 * * *");
  await live(11);
  expect(sent).toEqual([]);
  await live(1);
  expect(sent.toSorted()).toEqual(users);
  expect(await store.runs()).toMatchObject([{ ok: 3 }, { state: "CANCELED", total: 3, ok: 0 }]);
  expect((await store.occurrences("daily")).map((row) => [row.localTime, row.outcome])).toEqual([
    ["2026-11-21T08:24", "FIRED"],
  ]);
});

test("a quiz that is paused at its time is not sent, not after a resume either, and explain says how to send it", async () => {
  const { sent, live, call, explain } = await openQuiz();
  await live(12);
  await call("POST", "/schedules/daily/pause");
  expect(await explain("08:20")).toMatchObject({ verdict: "prematerialized-paused" });
  await call("POST", "/schedules/daily/resume");
  expect(await explain("08:20")).toMatchObject({ verdict: "prematerialized", advice: null });
  await call("POST", "/schedules/daily/pause");
  await live(10);
  await call("POST", "/schedules/daily/resume");
  await live(5);
  expect(sent).toEqual([]);
  const { verdict, advice } = await explain("08:20");
  expect(verdict).toBe("skipped-paused");
  const [, run] = /npx belfry runs retry (\d+)/.exec(advice ?? "") ?? [];
  await call("POST", `/runs/${run}/retry`);
  await live(1);
  expect(sent.toSorted()).toEqual(users);
});

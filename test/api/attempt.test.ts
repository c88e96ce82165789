import { createServer } from "node:http";
import { expect, test } from "vitest";
import { httpClient } from "../../src/outside/http/client.ts";
import type { AttemptDetailReply } from "../../src/api/shape/job.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import type { Context, Job } from "../../src/define/context.ts";
import { failureDetail, failureDetailLimits } from "../../src/machine/failure-detail.ts";
import { createWorker } from "../../src/run/worker.ts";
import { redact } from "../../src/api/redacted.ts";
import { everyKindHidden } from "../../src/api/sensitive.ts";
import { openApi } from "./harness.ts";
import { writeWorker } from "../../src/insight/workers.ts";
import { listening } from "../support/listening.ts";

const failing = (run: (payload: void, ctx: Context) => Promise<never>): Job<void> =>
  defineJob({ id: "failing", retry: { maxAttempts: 3, base: "1s" }, run });

/** Lets a real worker run the job once, on a real database. */
async function attempted(job: Job<void>): Promise<AttemptDetailReply> {
  const app = defineApp({ name: "tests", jobs: [job], schedules: [] });
  const opened = await openApi([app]);
  await opened.database.insight.run(writeWorker, {
    id: "w",
    lane: "default",
    version: "1",
    logGroup: "eu-west-1:/app/worker",
  });
  const { body } = await opened.call("POST", "/jobs", { kind: "failing" });
  const worker = createWorker(opened.ports, registry([app]), {
    worker: "w",
    lane: "default",
    stage: "dev",
  });
  await worker.handle(opened.ports.queue.receive("default", 10), { remainingMs: () => 60_000 });
  const answer = await opened.call("GET", `/jobs/${body.id}/attempts/1`);
  expect(answer).toMatchObject({ status: 200 });
  expect(await opened.call("GET", `/jobs/${body.id}/attempts/2`)).toMatchObject({
    status: 404,
    body: { code: "unknown-attempt" },
  });
  return answer.body as unknown as AttemptDetailReply;
}

test("a failed attempt keeps its stack, its causes and the last lines that its handler logged", async () => {
  const { failure, startedAt, logGroup } = await attempted(
    failing((_, ctx) => {
      for (let row = 1; row <= 60; row += 1) ctx.log.info("row read", { row });
      ctx.log.child({ table: "orders" }).warn("the table is locked");
      throw new Error("partition 97 is locked", { cause: new TypeError("lock timeout") });
    }),
  );
  expect(startedAt).not.toBeNull();
  expect(logGroup).toEqual({ region: "eu-west-1", name: "/app/worker" });
  expect(failure?.stack).toMatch(/^Error: partition 97 is locked\n\s+at .*attempt\.test\.ts/);
  expect(failure?.causes).toEqual([expect.stringMatching(/^TypeError: lock timeout\n\s+at /)]);
  expect(failure?.log).toHaveLength(failureDetailLimits.logLinesMax);
  expect(failure?.log.at(-2)).toMatchObject({ level: "info", text: 'row read {"row":60}' });
  expect(failure?.log.at(-1)).toMatchObject({ level: "warn", text: "the table is locked" });
});

test("what a service answered stands with the attempt that it failed", async () => {
  const server = createServer((_, response) => response.writeHead(422).end('{"why":"no address"}'.padEnd(9_000)));
  const baseUrl = `http://127.0.0.1:${await listening(server)}`;
  const { failure, dueAt, sentAt } = await attempted(
    failing(async (_, ctx) => {
      await httpClient({ baseUrl }).send({ method: "POST", path: "/", signal: ctx.signal });
      throw new Error("it was accepted");
    }),
  );
  expect(failure?.response).toMatchObject({ status: 422, body: expect.stringMatching(/^\{"why":"no address"\} +$/) });
  expect(failure?.response?.body).toHaveLength(failureDetailLimits.bodyCharactersMax);
  expect([dueAt, sentAt]).not.toContain(null);
});

test("of a kind with sensitive members nothing of a failure is shown", async () => {
  const reply = await attempted(failing(() => Promise.reject(new Error("card 4111 is refused"))));
  expect(JSON.stringify(reply)).toContain("4111");
  expect(JSON.stringify(redact(reply, everyKindHidden))).not.toContain("4111");
});

test("nothing that can be thrown breaks what is kept of it", () => {
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  const traps = Object.defineProperty(new Error("x"), "stack", {
    get() {
      throw new Error("no stack here");
    },
  });
  for (const thrown of [null, undefined, "text", 7n, circle, traps, { cause: Symbol("s") }, { response: 5 }])
    expect(() => JSON.stringify(failureDetail(thrown, []))).not.toThrow();
  const long = Object.assign(new Error("\u0000long"), { stack: `\u0000${"x".repeat(100_000)}` });
  expect(failureDetail(long, []).stack).toHaveLength(failureDetailLimits.stackCharactersMax);
  expect(failureDetail(long, []).stack).not.toContain("\u0000");
});

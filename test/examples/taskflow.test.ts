import type { RouteContext } from "belfry";
import { expect, onTestFinished, test } from "vitest";
import app, { task } from "../../examples/taskflow/app.ts";
import { requests } from "../../examples/taskflow/requests.ts";
import type { JobId } from "../../src/machine/job.ts";
import { bindClient } from "../../src/machine/client.ts";
import { openApi } from "../api/harness.ts";
import { eachTest } from "../support/each-test.ts";

async function open() {
  const opened = await openApi([app]);
  bindClient(opened.client);
  onTestFinished(() => bindClient(null));
  const ask = async (method: string, path: string, body?: unknown) => {
    const { status, body: said } = await opened.call(method, `/apps/taskflow/jobs${path}`, body);
    return { status, said: said as unknown as Record<string, unknown> };
  };
  return { ...opened, ask };
}

const opened = eachTest(open);
const { ask } = opened;
const one = { job_key: "report:one", type: "succeed", payload: { report: "one" } };

test("a repeat of a request is answered with the job of the first one", async () => {
  const first = await ask("POST", "", one);
  expect(first).toMatchObject({ status: 201, said: { created: true, status: "QUEUED", job_key: "report:one" } });
  const again = await ask("POST", "", one);
  expect(again).toMatchObject({ status: 200, said: { created: false, id: first.said["id"] } });
});

test("the next run of a waiting job is its due time, of a running one there is none", async () => {
  const { store } = opened;
  await ask("POST", "", one);
  const waiting = (await ask("GET", "/report:one")).said;
  expect(waiting["next_run_at"]).toBe(waiting["scheduled_at"]);
  await store.claim([{ jobId: waiting["id"] as JobId, generation: 1, trace: "" }], { worker: "w", alone: false });
  expect((await ask("GET", "/report:one")).said).toMatchObject({ status: "RUNNING", next_run_at: null });
});

test("the key of another request is taken: 409, and the job stays as it was", async () => {
  await ask("POST", "", one);
  expect(await ask("POST", "", { ...one, payload: { report: "two" } })).toMatchObject({
    status: 409,
    said: { error: "JOB_KEY_TAKEN" },
  });
  expect((await ask("GET", "/report:one")).said).toMatchObject({
    payload: { report: "one" },
    type: "succeed",
    attempts: [],
  });
});

test.each([
  [{ type: "succeed", payload: { report: "one" } }, "job_key"],
  [{ ...one, job_key: "" }, "job_key"],
  [{ ...one, job_key: "a\0b" }, "job_key"],
  [{ ...one, job_key: "a\uD800" }, "job_key"],
  [{ ...one, scheduled_at: "0000-01-01T00:00:00Z" }, "scheduled_at"],
  [{ ...one, scheduled_at: "9999-12-31T23:59:59-12:00" }, "scheduled_at"],
  [{ ...one, type: "sing" }, "type"],
  [{ ...one, payload: { report: "Nº 1" } }, "payload.report"],
  [{ ...one, priority: 5 }, "priority"],
  [{ ...one, schedule_at: "2099-01-01T00:00:00Z" }, "request"],
  [{ ...one, type: "nope", payload: { report: "BAD!" }, foo: 1 }, "type", "payload.report", "request"],
])("a request that cannot be is refused with every wrong field: %j", async (body, ...fields) => {
  const { store } = opened;
  const { status, said } = await ask("POST", "", body);
  expect(status).toBe(422);
  expect(said["fields"]).toEqual(fields.map((field) => expect.objectContaining({ field }) as unknown));
  expect(await store.jobs()).toEqual([]);
});

test("a job is canceled once; a second request gets the same answer, and one that ended stays ended", async () => {
  await ask("POST", "", one);
  expect(await ask("POST", "/report:one/cancel", {})).toMatchObject({ status: 200, said: { canceled: true } });
  expect(await ask("POST", "/report:one/cancel", {})).toMatchObject({ status: 200, said: { status: "CANCELED" } });
  expect((await ask("POST", "/unknown/cancel", {})).status).toBe(404);
  expect((await ask("GET", "/unknown")).status).toBe(404);
});

test("an error of the inside is logged, and the answer says only what to do", async () => {
  const lines: unknown[] = [];
  const broken = {
    find: () => Promise.reject(new Error("secret")),
    log: { error: (...line: unknown[]) => lines.push(line) },
  };
  const answer = await app.routes?.fetch(new Request("http://x/jobs/a"), broken as unknown as RouteContext);
  expect(answer?.status).toBe(500);
  expect(await answer?.text()).not.toContain("secret");
  expect(lines).toHaveLength(1);
});

test("a day has every type in it, and its keys are all different", () => {
  const day = requests(100);
  expect(new Set(day.map(({ type }) => type))).toEqual(new Set(["succeed", "flaky", "rejected", "hang", "die"]));
  expect(new Set(day.map(({ job_key }) => job_key)).size).toBe(100);
  expect(task.id).toBe("taskflow-job");
});

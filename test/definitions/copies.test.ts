/** Two copies of Belfry in one process, as two packages of a workspace may bring them. */
import { expect, test, vi } from "vitest";
import * as one from "belfry";
import { loadApps } from "../../src/compose/apps.ts";
import type { Project } from "../../src/stage/project.ts";
import { bindClient } from "../../src/machine/client.ts";
import { definitionOf } from "../../src/define/define-job.ts";
import { outcomeOf } from "../../src/run/handler.ts";

vi.resetModules();
const other = await import("belfry");

test("they are two", () => {
  expect(other.PermanentError).not.toBe(one.PermanentError);
});

test("a job of one is enqueued and run by the other", async () => {
  const enqueue = vi.fn(async () => [{ id: "1", created: true }]);
  bindClient({ enqueue, insert: vi.fn() } as never);
  const job = other.defineJob({ id: "theirs", run: () => {} });
  expect(await job.enqueue()).toEqual({ id: "1", created: true });
  expect(definitionOf(job).id).toBe("theirs");
  bindClient(null);
});

test("an error of one is what the other takes it for", () => {
  expect(outcomeOf(new other.PermanentError("gone", { code: "GONE" }), null)).toMatchObject({ is: "permanent" });
  expect(outcomeOf(new other.RetryLater("busy", { after: "5ms" }), null)).toMatchObject({
    is: "retryable",
    afterMs: 5,
  });
  expect(outcomeOf(new other.AmbiguousError("sent"), null)).toMatchObject({ is: "ambiguous" });
  const invalid = new other.InvalidPayload("mail", [{ path: "to", message: "is required" }]);
  expect(outcomeOf(invalid, null)).toMatchObject({ is: "permanent", code: "INVALID_PAYLOAD" });
  expect(outcomeOf(new Error("other"), null)).toMatchObject({ is: "retryable", code: "Error" });
});

test("a class that extends one of them differs from it", () => {
  class NoAccount extends one.PermanentError {}
  expect(new NoAccount("x")).toBeInstanceOf(one.PermanentError);
  expect(new NoAccount("x")).toBeInstanceOf(NoAccount);
  expect(new one.PermanentError("x")).not.toBeInstanceOf(NoAccount);
});

test("what no copy made is refused with what to look at", () => {
  expect(() => definitionOf({ id: "plain" })).toThrow(/"plain" is not a job: make it with defineJob.*npm ls belfry/s);
  const misspelt = { id: "nightly", every: "1m", job: "beat" } as unknown as Parameters<typeof one.defineSchedule>[0];
  expect(() => one.defineSchedule(misspelt)).toThrow('schedule "nightly": run must be a job: make it with defineJob');
});

test("an app of a version that works in another way is refused with what to look at", async () => {
  const project = (format: number): Project => ({
    root: "/",
    configFile: "/belfry.config.ts",
    stages: {},
    apps: { shared: async () => ({ default: { ...one.defineApp({ name: "theirs" }), format } }) },
    appFiles: { shared: "/shared.ts" },
    fakes: null,
    fakesFile: null,
  });
  expect(await loadApps(project(1), { apps: ["shared"] })).toHaveLength(1);
  await expect(loadApps(project(2), { apps: ["shared"] })).rejects.toThrow(
    "apps.shared shared.ts is made by another major version of belfry; npm ls belfry shows both",
  );
});

import { expect, test } from "vitest";
import { jobText } from "../../src/cli/text.ts";
import { detailOf } from "../console/scene.ts";

const job = { ...detailOf(7, "RUNNING"), worker: "task/0a1b2c:17:d4" };

test("a job that runs says where, and one that does not run says nothing of it", () => {
  expect(jobText(job, false)).toContain("runs on   task/0a1b2c:17:d4");
  expect(jobText({ ...job, state: "QUEUED", worker: null }, false)).not.toContain("runs on");
});

test("a move that was asked for says by whom", () => {
  const [first] = job.events;
  if (first === undefined) throw new Error("the scene has events");
  const retried = { ...first, to: "QUEUED", reason: "retry", caller: "ada" } as const;
  expect(jobText({ ...job, events: [retried] }, false)).toContain("retry by ada");
});

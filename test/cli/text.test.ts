import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { output, widthOf } from "../../src/cli/output.ts";
import { jobText } from "../../src/cli/text.ts";
import { aJobDetail } from "../support/job-detail.ts";

const ignore = (): void => {};
const piped = output({ out: ignore, err: ignore, isTerminal: false }, false);
const job = { ...aJobDetail, worker: "task/0a1b2c:17:d4" };

test("a job that runs says where, and one that does not run says nothing of it", () => {
  expect(jobText(job, piped)).toContain("runs on   task/0a1b2c:17:d4");
  expect(jobText({ ...job, state: "QUEUED", worker: null }, piped)).not.toContain("runs on");
});

test("a move that was asked for says by whom", () => {
  const moved = { id: "1", at: job.createdAt, from: "FAILED", attempt: 1, generation: 2, worker: null } as const;
  const retried = { ...moved, to: "QUEUED", reason: "retry", caller: "ada" } as const;
  expect(jobText({ ...job, events: [retried] }, piped)).toContain("retry by ada");
});

test("every table fits a terminal of 80 columns, keeps the names whole and says what had no room", () => {
  const narrow = output({ out: ignore, err: ignore, isTerminal: true, columns: 80 }, false);
  const id = "daily-quiz-latecomers-of-sao-paulo";
  const head = ["ID", "STATUS", "NEXT", "LAST", "WHEN", "ZONE", "RUNS", "APP"];
  const drawn = narrow.table(head, [
    [id, "on", "in 3h 20m", "succeeded", "*/10 8-23 * * *", "Asia/Seoul", id, "quiz"],
    ["매일 퀴즈", "o\u0302n", "⚠️", "हिन्दी", "", "", "", ""],
  ]);
  expect(drawn).toContain(id);
  expect(drawn).toMatch(/no room for .*RUNS, APP/);
  const lines = drawn.split("\n").slice(0, -1);
  const widths = new Set(lines.map((line) => widthOf(stripVTControlCharacters(line))));
  expect([lines.length, widths.size, Math.max(...widths) <= 80]).toEqual([6, 1, true]);
});

test("an instant is relative at a terminal, and exact on a pipe", () => {
  const terminal = output({ out: ignore, err: ignore, isTerminal: true, columns: 80 }, false);
  const at = new Date(Date.now() - 7_200_500).toISOString();
  expect([terminal.time(at), piped.time(at), piped.time(null)]).toEqual(["2h ago", at, ""]);
});

import { expect, test } from "vitest";
import { checkApps } from "../../src/define/check.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob, definitionOf } from "../../src/define/define-job.ts";
import { describe as line } from "../../src/define/problem.ts";

const jobWith = (circuit: object, id = "a") => defineJob({ id, run: () => {}, circuit: circuit as never });
const form = 'must be 1 to 64 letters, digits, ".", "_" or "-"';

test.each<[object, string]>([
  [["HTTP_503"], 'circuit ["HTTP_503"] must be an object; write { on: ["HTTP_5xx"] }'],
  [{}, 'circuit.on (missing) must be a list of 1 to 20 error codes; write ["HTTP_401", "HTTP_5xx"]'],
  [{ on: [""] }, `circuit.on "" ${form}; write the code as the handler's error has it, like HTTP_503 or HTTP_5xx`],
  [{ on: ["A"], share: 0 }, "circuit.share 0 must be more than 0 and at most 1; write 0.5 for a half, or leave it out"],
  [{ on: ["A"], over: "2h" }, 'circuit.over "2h" must be at most 1h; use a shorter one'],
  [
    { on: ["A"], minimum: 0 },
    "circuit.minimum 0 must be a whole number from 1 to 10000; change it, or leave it out for the default",
  ],
  [{ on: ["A"], pause: "2d" }, 'circuit.pause "2d" must be at most 1d; use a shorter one'],
  [{ on: ["A"], name: "a b" }, `circuit.name "a b" ${form}; choose a shorter one`],
  [{ on: ["A"], of: 1 }, "circuit.of 1 is not known; use on, share, over, minimum, pause, name"],
])("a circuit may not be %j", (circuit, expected) => {
  expect(definitionOf(jobWith(circuit)).problems.map(line)).toEqual([`job "a": ${expected}`]);
});

test("an x behind digits is any digit, everything else is itself, and the defaults are those of the guide", () => {
  const { circuit } = definitionOf(jobWith({ on: ["HTTP_401", "HTTP_5xx", "a.x"] }));
  expect(circuit).toMatchObject({ name: "a", share: 0.5, overMs: 60_000, minimum: 20, pauseMs: 300_000 });
  const matches = (code: string): boolean => new RegExp(circuit?.pattern ?? "").test(code);
  expect(["HTTP_401", "HTTP_503", "a.x"].filter(matches)).toHaveLength(3);
  expect(["HTTP_4011", "HTTP_5xx", "XHTTP_401", "HTTP_50", "abx"].filter(matches)).toEqual([]);
});

test("kinds that share a circuit have one rule", () => {
  const of = (share: number) => ({ on: ["HTTP_5xx"], name: "stripe", share });
  const problems = (share: number) =>
    checkApps([defineApp({ name: "x", jobs: [jobWith(of(0.5)), jobWith(of(share), "b")] })], "dev").map(line);
  expect(problems(0.5)).toEqual([]);
  expect(problems(0.6)).toEqual(['job "b": circuit.name "stripe" has another rule in job "a"; give both one rule']);
});

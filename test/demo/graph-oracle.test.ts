import { expect, test } from "vitest";
import { readGraphFile } from "../../examples/dag-batch/workflow.ts";
import { expectedEnds } from "./graph-oracle.ts";

test("the oracle follows a failure through each join rule", () => {
  expect(Object.fromEntries(expectedEnds(readGraphFile("broken")))).toEqual({
    stage: "DONE",
    left: "DONE",
    right: "FAILED",
    left_check: "DONE",
    right_check: "SKIPPED",
    right_load: "SKIPPED",
    either: "DONE",
    both: "SKIPPED",
    after_both: "SKIPPED",
    clean_up: "DONE",
  });
});

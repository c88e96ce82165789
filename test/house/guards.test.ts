import { expect, test } from "vitest";
import { mutants, newer, record } from "../proof/mutants.ts";
import { readSource, sourceFiles } from "./imports.ts";

const files = sourceFiles().filter((file) => !file.startsWith("test/"));

/** A guard that a proof takes away has to be where the proof looks for it, or the proof takes nothing away. */
test.each(Object.entries({ ...mutants, "of the release N+1": newer, "none, what a proof records": [record] }))(
  "the guard %s is found in the source",
  (_name, patches) => {
    for (const { file, from } of patches) {
      const found = files.filter((path) => `/${path}`.endsWith(file));
      expect(found).toEqual([file.slice(1)]);
      expect(readSource(found[0] ?? "")).toContain(from);
    }
  },
);

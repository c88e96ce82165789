import { expect, test } from "vitest";
import { readSource, sourceFiles } from "./imports.ts";

/** The texts between the brackets of each `Promise.all([...])`. */
function together(source: string): readonly string[] {
  return [...source.matchAll(/Promise\.(?:all|allSettled|race|any)\(\[/g)].map(({ index, 0: head }) => {
    const begin = index + head.length;
    let end = begin;
    for (let open = 1; open > 0 && end < source.length; end += 1) {
      if (source[end] === "[") open += 1;
      if (source[end] === "]") open -= 1;
    }
    return source.slice(begin, end);
  });
}

/** An await there leaves the promises before it without a handler: one that rejects in that time ends the process. */
const waits = (source: string): boolean =>
  together(source).some((list) => /\bawait\b/.test(list) && !/\basync\b/.test(list));

test("no list of promises waits for something while it is made", () => {
  const product = sourceFiles().filter((file) => /^(src|functions|scheduler-task|infra|examples)\//.test(file));
  expect(product.length).toBeGreaterThan(100);
  expect(product.filter((file) => waits(readSource(file)))).toEqual([]);
});

test("one that does is found", () => {
  expect(waits("Promise.all([a(), b([1], await now())])")).toBe(true);
  expect(waits("const at = await now(); await Promise.all([a(), b(at)])")).toBe(false);
});

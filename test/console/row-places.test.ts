import { describe, expect, it } from "vitest";
import { placesOf } from "../../src/console/parts/row-places.ts";

const places = (ids: string, before = new Map<string, number>(), spared?: string) =>
  new Map(placesOf([...ids], before, spared));

describe("the elements of a table that is scrolled", () => {
  it("stay with the rows that stay visible, also when a row comes before them", () => {
    const before = places("abc");
    expect(places("bcd", before)).toEqual(new Map(Object.entries({ b: 1, c: 2, d: 0 })));
    expect(places("xabc", before)).toEqual(new Map(Object.entries({ x: 3, a: 0, b: 1, c: 2 })));
  });

  it("are used again for other rows after a jump: no new one is made", () => {
    const after = places("wxyz", places("abcd"));
    expect([...after.values()]).toEqual([0, 1, 2, 3]);
  });

  it("are not used again when one has the focus: a key that was meant for its row would reach another", () => {
    expect([...places("wxyz", places("abcd"), "b").values()]).toEqual([0, 2, 3, 4]);
  });
});

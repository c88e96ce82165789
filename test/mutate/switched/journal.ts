import { appendFileSync, closeSync, openSync, readSync } from "node:fs";

/** What a test process says as it goes on: its parent may have to kill it, and must know what it did until then. */
export type Line =
  | { readonly is: "file" | "file ended"; readonly file: string }
  /** A run without a mutant begins. */
  | { readonly is: "clean"; readonly name: string; readonly limitMs: number }
  /** The test fails without a mutant, at once or when it is repeated, so it finds none. */
  | { readonly is: "refused"; readonly name: string }
  /** It fails without a mutant after one that it found: what it found is not believed, and the process is damaged. */
  | { readonly is: "damaged"; readonly name: string; readonly key: string }
  | { readonly is: "try"; readonly name: string; readonly key: string; readonly limitMs: number }
  /** `unentered`: the test, when it is repeated, does not enter the function. */
  | { readonly is: "tried"; readonly name: string; readonly key: string; readonly how: How | "unentered" };

/** `hung`: it had to be stopped. */
export type How = "killed" | "hung" | "survived";

/** A test in the journal: `FILE > TEST`. */
export const nameOf = (file: string, test: string): string => `${file} > ${test}`;

export const write = (path: string, line: Line): void => appendFileSync(path, `${JSON.stringify(line)}\n`);

/** Reads what was written since the last look. */
export function follow(path: string): { next(): Line[]; close(): void } {
  const file = openSync(path, "a+");
  const buffer = Buffer.alloc(1 << 20);
  let from = 0;
  let rest = Buffer.alloc(0);
  return {
    next() {
      const lines: Line[] = [];
      for (;;) {
        const length = readSync(file, buffer, 0, buffer.length, from);
        if (length === 0) return lines;
        from += length;
        rest = Buffer.concat([rest, buffer.subarray(0, length)]);
        const end = rest.lastIndexOf("\n") + 1;
        const whole = rest.subarray(0, end).toString().split("\n").filter(Boolean);
        lines.push(...whole.map((line) => JSON.parse(line) as Line));
        rest = Buffer.from(rest.subarray(end));
      }
    },
    close: () => closeSync(file),
  };
}

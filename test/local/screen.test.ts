import { expect, it } from "vitest";
import { humanScreen, jsonScreen } from "../../src/local/screen.ts";
import type { LocalEvent } from "../../src/local/system.ts";

const hostile = "\u001b]0;title\u0007\u001b[31mred\u202edesrever\u009b2J";
const events: readonly LocalEvent[] = [
  { is: "line", from: "worker default", stream: "stderr", line: hostile },
  {
    is: "line",
    from: "worker default",
    stream: "stdout",
    line: JSON.stringify({ level: "ERROR", message: hostile, [hostile]: hostile, error: { message: hostile } }),
  },
  { is: "problem", from: "api", what: "failed", error: new Error(`first\n${hostile}`) },
];

function written(open: typeof humanScreen): string {
  let text = "";
  const screen = open({ isTTY: false, write: (part: string) => (text += part) } as unknown as NodeJS.WriteStream);
  for (const event of events) screen.event(event);
  return text;
}

it.each([
  ["people", humanScreen],
  ["programs", jsonScreen],
] as const)("shows what handlers and remote servers wrote without obeying it, to %s", (_, open) => {
  const text = written(open);
  expect(text).toContain("desrever");
  expect(
    text
      .split(/\p{Cc}\[\d+m/u)
      .join("")
      .match(/[\p{Cc}\u202a-\u202e]/gu)
      ?.filter((each) => each !== "\n") ?? [],
  ).toEqual([]);
  expect(text).not.toContain(hostile.slice(9, 14));
});

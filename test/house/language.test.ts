import { expect, test } from "vitest";
import { readSource, textFiles } from "./imports.ts";

/** What is not written, what to write instead, and an example that the pattern has to find. */
const banned: readonly { readonly word: RegExp; readonly instead: string; readonly planted: string }[] = [
  { word: /\bwhoever\b/i, instead: "the process or function that does it", planted: "Whoever waits looks again." },
  { word: /\bsomebody\b/i, instead: "the actor by its name", planted: "somebody decided already" },
  // A user of Linux is called nobody: as a name it stands in quotes.
  { word: /(?<!["`])\bnobody\b(?!["`])/i, instead: "no and the actor's name", planted: "a port nobody listens on" },
  { word: /\banew\b/i, instead: "again", planted: "sent anew" },
  { word: /\bmend(s|ed|ing)?\b/i, instead: "repair or fix", planted: "mend the cause" },
  { word: /\bmeanwhile\b/i, instead: "in between, or nothing", planted: "another may come meanwhile" },
  { word: /\bof ours\b/i, instead: "Belfry's, or the noun alone", planted: "a table of ours" },
  { word: /\bstand-ins?\b|[sS]tandIn/, instead: "fake, or fallback lock", planted: "startStandIns()" },
  { word: /\bhand-?offs?\b|[hH]andoff|[hH]andOff/, instead: "outbox batch, dispatch", planted: "const handoffs = []" },
  { word: /\bhearts?\b|\bHeart\b/, instead: "lease keeper", planted: "class Heart {}" },
  { word: /\bsights?\b|\b[sS]ights?[A-Z]|[a-z]Sights?\b/, instead: "observation", planted: "keepSights(" },
  { word: /\b(tells|told)\b|\btold[A-Z]/i, instead: "reports, says, shows; events", planted: "with told as (" },
];

/** Everything that is read in English, but for this test, which has to name what it bans. */
const files = textFiles().filter((file) => file !== "test/house/language.test.ts");

const faults = (text: string): readonly string[] =>
  text.split("\n").flatMap((line, index) =>
    banned.flatMap(({ word, instead }) => {
      const [found] = word.exec(line) ?? [];
      return found === undefined ? [] : [`${index + 1}: "${found}": write ${instead}`];
    }),
  );

test("no text uses a banned word", () => {
  expect(files.length).toBeGreaterThan(500);
  expect(files.flatMap((file) => faults(readSource(file)).map((fault) => `${file}:${fault}`))).toEqual([]);
});

test.each(banned)("$word is found where it is planted", ({ word, planted }) => {
  expect(planted).toMatch(word);
});

test("the user nobody and words that contain a banned one are no faults", () => {
  expect(faults('users.get("nobody"), outstanding, heartbeat, amended, insight')).toEqual([]);
});

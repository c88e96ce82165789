import { transformSync } from "esbuild";
import { expect, test } from "vitest";
import { readSource, sourceFiles } from "./imports.ts";

/** Members and attributes that no person reads. */
const unread = /^(class|look|id|href|type|role|d|key|template|width|viewBox|style|transform|height|left|font)$/;
const isCode = /^(npx |state:|run:|square |row |jobs\/|define(Graph|FanOut|Schedule)$|Belfry$|English$|한국어$)/;
/** The value of `class`, which may ask something first. */
const classes = /\bclass: [^,]+(,|$)/g;

/** A string of the code with the name of the member or attribute that it is the value of. */
const strings = /(?:"?([\w-]+)"?: )?(?:"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)/g;

/** Two words, a word with a capital where a text is expected, or letters that no code of this page has. */
function isText(name: string, value: string, isAlone: boolean): boolean {
  if (unread.test(name) || isCode.test(value)) return false;
  if (name === "children" && /\p{L}/u.test(value)) return true;
  const isNamed = /^(title|text|name|does|label|action|hint|placeholder|summary|alt|aria-label|data-label)$/.test(name);
  if ((isNamed || isAlone) && /^\p{Lu}\p{Ll}/u.test(value)) return true;
  if (isAlone && /\p{L}/u.test(value) && value !== value.trim()) return true;
  return /(?<![\w(.:/-])\p{L}{2,}[,.:]? \p{L}{2,}/u.test(value) || /\p{Script=Hangul}/u.test(value);
}

/** Texts that stand in the file itself. The bundler leaves of it what is code: no comments, no types, no tags. */
function textsOf(file: string, source: string): readonly string[] {
  const loader = file.endsWith("x") ? "tsx" : "ts";
  const { code } = transformSync(source, { loader, jsx: "automatic", charset: "utf8", legalComments: "none" });
  return code
    .split("\n")
    .filter((line) => !/^\s*(import|\} from)\b/.test(line))
    .flatMap((line) =>
      [...line.replaceAll(classes, "").matchAll(strings)].flatMap(([all, name = "", plain, template]) => {
        const value = (plain ?? template ?? "").replaceAll(/\$\{[^}]*\}/g, "");
        const isAlone = plain !== undefined && line.trim().replace(/,$/, "") === all;
        return isText(name, value, isAlone) ? [`${file}: ${value.trim()}`] : [];
      }),
    );
}

const components = sourceFiles().filter(
  (file) => file.startsWith("src/console/") && !file.startsWith("src/console/language/"),
);

test("no text of the page stands in a component: the catalogues have them all", () => {
  expect(components.length).toBeGreaterThan(90);
  expect(components.flatMap((file) => textsOf(file, readSource(file)))).toEqual([]);
});

test.each([
  ["between tags", "const a = () => <p>Loading</p>;"],
  ["beside an element", "const a = () => <p>since <b>{at}</b></p>;"],
  ["in an attribute", 'const a = () => <input aria-label="Payload" />;'],
  ["in a sentence of the code", "const a = (n: number) => `${n} jobs are left`;"],
  ["in a named member", 'const a = { title: "Jobs" };'],
  ["in another language", 'const a = say("작업");'],
])("a text %s is found where it is planted", (_, source) => {
  expect(textsOf("planted.tsx", source)).toHaveLength(1);
});

test("classes, widths, addresses and commands are no texts", () => {
  const source =
    'const a = () => <a class="row tall" href="/x y"><code>{"npx belfry jobs"}</code>{"112px minmax(1fr, 2fr)"}</a>;';
  expect(textsOf("planted.tsx", source)).toEqual([]);
});

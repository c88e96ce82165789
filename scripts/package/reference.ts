/** A page for each entry, made from its doc comments: readable on GitHub and in the site. */
import type { Member, Surface } from "./surface.ts";

export function referencePage({ entry, members }: Surface): string {
  const title = entry === "belfry" ? "belfry" : `belfry/${entry}`;
  const parts = groups.flatMap(({ name, kinds }) => {
    const found = members.filter(({ kind }) => kinds.includes(kind));
    return found.length === 0 ? [] : [`## ${name}`, ...merged(found).map(section)];
  });
  return [`# \`${title}\``, "Made from the doc comments by `npm run api`: do not edit it here.", ...parts, ""]
    .join("\n\n")
    .trimEnd()
    .concat("\n");
}

const groups: readonly { readonly name: string; readonly kinds: readonly string[] }[] = [
  { name: "Functions", kinds: ["Function", "Variable"] },
  { name: "Classes", kinds: ["Class"] },
  { name: "Types", kinds: ["Interface", "TypeAlias"] },
];

/** Overloads are one section. */
function merged(members: readonly Member[]): readonly (readonly Member[])[] {
  const byName = Map.groupBy(members, ({ name }) => name);
  return [...byName.values()];
}

function section(overloads: readonly Member[]): string {
  const [first] = overloads;
  if (first === undefined) return "";
  const own = first.members?.filter(({ kind }) => shown.has(kind)) ?? [];
  return [
    `### ${first.name}`,
    ...overloads.map(({ docComment }) => prose(docComment)).filter((text) => text !== ""),
    "```ts\n" + overloads.map(signature).join("\n") + "\n```",
    ...(own.length === 0 ? [] : [own.map(line).join("\n")]),
  ].join("\n\n");
}

const shown = new Set(["Property", "PropertySignature", "Method", "MethodSignature", "Constructor", "CallSignature"]);

const signature = ({ excerptTokens }: Member): string =>
  excerptTokens
    .map(({ text }) => text)
    .join("")
    .replace(/^export (declare )?/, "")
    .trim();

const line = (member: Member): string => {
  const text = prose(member.docComment).replaceAll(/\s*\n\s*/g, " ");
  const type = signature(member)
    .replaceAll(/\s+/g, " ")
    .replace(/;$/, "")
    .replace(/^readonly /, "");
  return `- \`${type}\`${text === "" ? "" : `: ${text}`}`;
};

/** The comment's text; tags become sentences. */
function prose(comment: string): string {
  const text = comment
    .replace(/^\/\*\*/, "")
    .replace(/\*\/\s*$/, "")
    .replaceAll(/^\s*\* ?/gm, "")
    .replaceAll("@throws ", "Throws ")
    .replaceAll(/@returns (\w)/g, (_, letter: string) => `Returns ${letter}`)
    .replaceAll(/@param (\w+) /g, "`$1`: ")
    .replaceAll(/@(beta|public)\b/g, "_$1_")
    .trim();
  // Outside of code, a page must not read a type's brackets as HTML.
  return text
    .split("`")
    .map((part, index) => (index % 2 === 0 ? part.replaceAll("<", "&lt;") : part))
    .join("`");
}

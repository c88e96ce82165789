import { createHash } from "node:crypto";
import { referencePage } from "./reference.ts";
import { entries, type Surface } from "./surface.ts";

/** What is committed, by path from the root: a report and a page of each entry, and the list of the pages. */
export const surfaceFiles = (surfaces: readonly Surface[]): ReadonlyMap<string, string> =>
  new Map([
    ...surfaces.flatMap((each) => [
      [`api/${each.entry}.api.md`, each.report] as const,
      [`docs/reference/${each.entry}.md`, referencePage(each)] as const,
    ]),
    ["docs/reference/README.md", contents],
  ]);

const contents = `# Reference

Each entry of the package, from its doc comments. What is listed here is what a version number speaks of; the reports in [api](../../api) hold it.

${entries.map(([entry]) => `- [\`${entry === "belfry" ? "" : "belfry/"}${entry}\`](${entry}.md)`).join("\n")}
`;

/** Stands in CHANGELOG.md and changes with the reports, so that none changes without a look at the changelog. */
export const surfaceMark = (surfaces: readonly Surface[]): string =>
  `<!-- api: ${createHash("sha256")
    .update(surfaces.map(({ report }) => report).join("\n"))
    .digest("hex")
    .slice(0, 12)} -->`;

/** The pages as the site has them: English at its root, Korean under ko/, where a page of English alone has one that leads to it. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

export const docs = fileURLToPath(new URL("../", import.meta.url));

export const titleOf = (page: string): string =>
  /^# (.+)$/m.exec(readFileSync(join(docs, page), "utf8"))?.[1]?.replaceAll("`", "") ?? page;

const files = new Set(
  readdirSync(docs, { recursive: true, encoding: "utf8" }).filter(
    (file) => !file.startsWith(".") && statSync(join(docs, file)).isFile(),
  ),
);

const placeOf = (file: string): string =>
  (file.endsWith(".ko.md") ? `ko/${file.replace(/ko\.md$/, "md")}` : file).replace(/README\.md$/, "index.md");

/** Links lead to files of the repository; what is no page of the site is left as it is. */
const linked = (file: string): string =>
  readFileSync(join(docs, file), "utf8").replaceAll(/\]\(([^):#\s]+)/g, (whole, target: string) => {
    const to = posix.join(posix.dirname(file), target);
    if (files.has(to)) return `](${posix.relative(posix.dirname(placeOf(file)), placeOf(to))}`;
    if (to.endsWith(".md") && !to.startsWith(".."))
      throw new Error(`docs/${file} links to ${target}, which is no page`);
    return whole;
  });

export function layOutPages(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const write = (place: string, text: string): void => {
    mkdirSync(dirname(join(folder, place)), { recursive: true });
    writeFileSync(join(folder, place), text);
  };
  for (const file of files) {
    if (!file.endsWith(".md")) cpSync(join(docs, file), join(folder, file));
    else write(placeOf(file), linked(file));
    if (!file.endsWith(".md") || file.endsWith(".ko.md") || files.has(file.replace(/md$/, "ko.md"))) continue;
    const english = posix.relative(posix.dirname(`ko/${file}`), placeOf(file));
    write(`ko/${placeOf(file)}`, `# ${titleOf(file)}\n\n이 문서는 영어로만 있습니다: [${titleOf(file)}](${english})\n`);
  }
}

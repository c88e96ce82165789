/** `npm run site`: a searchable site of the same files that GitHub shows, in .belfry/site. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineConfig, type SiteConfig } from "vitepress";

const pages = (folder: string, ends = /^(?!README)[^.]+\.md$/): readonly string[] =>
  readdirSync(new URL(`../${folder}/`, import.meta.url))
    .filter((name) => ends.test(name))
    .map((name) => `${folder}${folder === "" ? "" : "/"}${name.replace(/\.md$/, "")}`)
    .toSorted();

const titleOf = (page: string): string =>
  /^# (.+)$/m.exec(readFileSync(new URL(`../${page}.md`, import.meta.url), "utf8"))?.[1]?.replaceAll("`", "") ?? page;

const links = (names: readonly string[]) => names.map((name) => ({ text: titleOf(name), link: `/${name}` }));

const group = (text: string, folder: string) => ({ text, link: `/${folder}/`, items: links(pages(folder)) });

const about = "Scheduled work in your own AWS account that is never lost and always explained.";

/** The tutorial and the guides first, decisions and measurements last. */
const rank = (page: string): number =>
  ["tutorial", "guides/", "", "reference/", "measurements/", "adr/"].findLastIndex((folder) =>
    page.startsWith(folder),
  ) + (page.includes("/") || page.startsWith("tutorial") ? 0 : 2);

/** For assistants: a line for each page, and each page as Markdown beside its HTML. */
function writeForAssistants({ pages: all, srcDir, outDir }: SiteConfig): void {
  const wanted = all.filter((page) => !page.endsWith(".ko.md"));
  const lines = wanted
    .toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b))
    .map((page) => {
      const text = readFileSync(join(srcDir, page), "utf8");
      mkdirSync(dirname(join(outDir, page)), { recursive: true });
      writeFileSync(join(outDir, page), text);
      const title = /^# (.+)$/m.exec(text)?.[1] ?? page;
      const first = /^(?!Status|Made from|[#<|>\s-]).+/m.exec(text.replaceAll(/^```.*?^```/gms, ""))?.[0] ?? "";
      return `- [${title}](/${page}): ${first}`;
    });
  writeFileSync(join(outDir, "llms.txt"), `# Belfry\n\n> ${about}\n\n## Pages\n\n${lines.join("\n")}\n`);
}

// oxlint-disable-next-line import/no-default-export -- VitePress reads the default export.
export default defineConfig({
  title: "Belfry",
  description: about,
  cacheDir: "../.belfry/site-cache",
  outDir: "../.belfry/site",
  buildEnd: writeForAssistants,
  transformHtml: (html, file) => (file.endsWith(".ko.html") ? html.replace('lang="en-US"', 'lang="ko-KR"') : undefined),
  rewrites: { "guides/README.md": "guides/index.md", "reference/README.md": "reference/index.md" },
  // Of files beside docs/, which only GitHub shows.
  ignoreDeadLinks: [/^(\.\/)?(\.\.\/)+/, /\/(README|CONTRIBUTING|CHANGELOG)$/],
  // Braces in a heading or a cell are paths and types, not attributes.
  markdown: { attrs: { disable: true } },
  themeConfig: {
    // Every word has to be there: one of two words is on most pages.
    search: { provider: "local", options: { miniSearch: { searchOptions: { combineWith: "AND", fuzzy: false } } } },
    nav: [
      { text: "Tutorial", link: "/tutorial" },
      { text: "Guides", link: "/guides/" },
      { text: "Reference", link: "/reference/" },
      { text: "한국어", link: "/tutorial.ko" },
    ],
    sidebar: [
      { text: "Tutorial", link: "/tutorial" },
      group("Guides", "guides"),
      group("Reference", "reference"),
      {
        text: "In depth",
        items: links([
          "how-it-works",
          "definitions",
          "schedules",
          "schedules-operation",
          "guarantees",
          "limits",
          "performance",
          "comparison",
          "scale",
          "glossary",
          "state-machine",
          "cells",
          "retention",
        ]),
      },
      {
        text: "Operation",
        items: links(["deploy", "operate", "runbook", "console", "security", "asvs", "api", "costs"]),
      },
      { text: "Decisions", collapsed: true, items: links(pages("adr")) },
      { text: "한국어", items: links([...pages("", /\.ko\.md$/), ...pages("guides", /^(?!README).+\.ko\.md$/)]) },
    ],
  },
});

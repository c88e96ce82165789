/** `npm run site`: a searchable site of the same files that GitHub shows, in .belfry/site. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineConfig, type SiteConfig } from "vitepress";
import { docs, layOutPages, titleOf } from "./pages.ts";

const srcDir = join(docs, "../.belfry/site-pages");
layOutPages(srcDir);

const pages = (folder: string): readonly string[] =>
  readdirSync(join(docs, folder))
    .filter((name) => /^(?!README)[^.]+\.md$/.test(name))
    .map((name) => `${folder}/${name.replace(/\.md$/, "")}`)
    .toSorted();

const links = (names: readonly string[]) => names.map((name) => ({ text: titleOf(`${name}.md`), link: `/${name}` }));

const linksInKorean = (names: readonly string[]) =>
  names.map((name) => ({ text: titleOf(`${name}.ko.md`), link: `/ko/${name}` }));

const about = "Scheduled work in your own AWS account that is never lost and always explained.";

/** The tutorial and the guides first, decisions and measurements last. */
const rank = (page: string): number =>
  ["tutorial", "guides/", "", "reference/", "measurements/", "adr/"].findLastIndex((folder) =>
    page.startsWith(folder),
  ) + (page.includes("/") || page.startsWith("tutorial") ? 0 : 2);

/** For assistants: a line for each page, and each page as Markdown beside its HTML. */
function writeForAssistants({ pages: all, outDir }: SiteConfig): void {
  const wanted = all.filter((page) => !page.startsWith("ko/"));
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

const inEnglish = [
  { text: "Reference", link: "/reference/", items: links(pages("reference")) },
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
];

const korean = {
  nav: [
    { text: "튜토리얼", link: "/ko/tutorial" },
    { text: "가이드", link: "/ko/guides/" },
    { text: "참조 (영어)", link: "/reference/" },
  ],
  sidebar: [
    { text: "튜토리얼", link: "/ko/tutorial" },
    { text: "가이드", link: "/ko/guides/", items: linksInKorean(pages("guides")) },
    { text: "영어 문서", collapsed: true, items: inEnglish },
  ],
  outline: { label: "이 페이지" },
  docFooter: { prev: "이전", next: "다음" },
  darkModeSwitchLabel: "어두운 화면",
  sidebarMenuLabel: "메뉴",
  returnToTopLabel: "맨 위로",
  langMenuLabel: "언어",
};

const searchInKorean = {
  button: { buttonText: "찾기", buttonAriaLabel: "찾기" },
  modal: {
    displayDetails: "자세히 보기",
    resetButtonTitle: "지우기",
    backButtonTitle: "닫기",
    noResultsText: "결과가 없습니다:",
    footer: { selectText: "열기", navigateText: "옮기기", closeText: "닫기" },
  },
};

// oxlint-disable-next-line import/no-default-export -- VitePress reads the default export.
export default defineConfig({
  title: "Belfry",
  description: about,
  srcDir,
  cacheDir: "../.belfry/site-cache",
  outDir: "../.belfry/site",
  buildEnd: writeForAssistants,
  // Of files beside docs/, which only GitHub shows.
  ignoreDeadLinks: [/^(\.\/)?(\.\.\/)+/, /\/(README|CONTRIBUTING|CHANGELOG)$/],
  // Braces in a heading or a cell are paths and types, not attributes.
  markdown: { attrs: { disable: true }, languageAlias: { cts: "ts" } },
  locales: {
    root: { label: "English", lang: "en-US" },
    ko: { label: "한국어", lang: "ko-KR", themeConfig: korean },
  },
  themeConfig: {
    search: {
      provider: "local",
      options: {
        // Every word has to be there: one of two words is on most pages.
        miniSearch: { searchOptions: { combineWith: "AND", fuzzy: false } },
        locales: { ko: { translations: searchInKorean } },
      },
    },
    nav: [
      { text: "Tutorial", link: "/tutorial" },
      { text: "Guides", link: "/guides/" },
      { text: "Reference", link: "/reference/" },
    ],
    sidebar: [
      { text: "Tutorial", link: "/tutorial" },
      { text: "Guides", link: "/guides/", items: links(pages("guides")) },
      ...inEnglish,
    ],
  },
});

/** `npm run site`: a searchable site of the same files that GitHub shows, in .belfry/site. */
import { readdirSync } from "node:fs";
import { defineConfig } from "vitepress";

const pages = (folder: string): readonly string[] =>
  readdirSync(new URL(`../${folder}/`, import.meta.url))
    .filter((name) => name.endsWith(".md") && name !== "README.md" && !name.endsWith(".ko.md"))
    .map((name) => name.replace(/\.md$/, ""))
    .toSorted();

const group = (text: string, folder: string) => ({
  text,
  link: `/${folder}/`,
  collapsed: folder === "adr",
  items: pages(folder).map((name) => ({ text: name.replaceAll("-", " "), link: `/${folder}/${name}` })),
});

const links = (...names: readonly string[]) =>
  names.map((name) => ({ text: name.replaceAll("-", " "), link: `/${name}` }));

// oxlint-disable-next-line import/no-default-export -- VitePress reads the default export.
export default defineConfig({
  title: "Belfry",
  description: "Scheduled work in your own AWS account that is never lost and always explained.",
  cacheDir: "../.belfry/site-cache",
  outDir: "../.belfry/site",
  rewrites: { "guides/README.md": "guides/index.md", "reference/README.md": "reference/index.md" },
  // Of files beside docs/, which only GitHub shows.
  ignoreDeadLinks: [/^(\.\/)?(\.\.\/)+/, /\/(README|CONTRIBUTING|CHANGELOG)$/],
  // Braces in a heading or a cell are paths and types, not attributes.
  markdown: { attrs: { disable: true } },
  themeConfig: {
    search: { provider: "local" },
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
        items: links(
          "how-it-works",
          "definitions",
          "schedules",
          "schedules-operation",
          "guarantees",
          "limits",
          "performance",
          "scale",
          "glossary",
          "state-machine",
        ),
      },
      { text: "Operation", items: links("deploy", "operate", "runbook", "console", "security", "api", "costs") },
      { text: "Decisions", collapsed: true, items: group("", "adr").items },
    ],
  },
});

import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import type { PageFile, PageFiles } from "./console.ts";

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

/** The page as a release brought it along: every file of a folder, by name. */
export async function readConsole(folder: URL): Promise<PageFiles> {
  const names = await readdir(folder);
  return new Map(await Promise.all(names.map(async (name) => [name, await readPage(folder, name)] as const)));
}

async function readPage(folder: URL, name: string): Promise<PageFile> {
  const bytes = Uint8Array.from(await readFile(new URL(name, folder)));
  const type = types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  return { bytes, gzip: gzipSync(bytes), type };
}

import { type Context, Hono } from "hono";
import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

/** One file of the page, by its path below `/console/`. */
export interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/** All files of the page. `index.html` must be among them. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/**
 * The page loads nothing from and sends nothing to other origins: no inline script or style, no frame, no form, no plugin.
 * Data of jobs is always shown as text.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const headers = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  vary: "accept-encoding",
};

/** Coded, so that no client has resolved it: it can only look for a file. */
const stepsUp = /(^|\/|%2f)(\.|%2e){2}(\/|%2f|$)/i;

/**
 * GET /: the page, and its files. Every path without a file is a place inside the page, which reads the address itself.
 * Files other than the page have their content's hash in the name, so browsers keep them for good.
 */
export function consolePage(files: () => Promise<PageFiles>): Hono {
  return new Hono().get("/*", async (c) => {
    const found = await files();
    const name = c.req.path.replace(/^\/console\/?/, "");
    const file = found.get(name);
    if (file !== undefined && name !== "index.html") {
      return answer(c, file, "public, max-age=31536000, immutable");
    }
    // A file of an older version must not get the page instead: the browser would run HTML as a script.
    if (/\.(js|css)$/.test(name))
      return c.text("this file belongs to another version: load the page again", 404, headers);
    if (stepsUp.test(name)) return c.text("the page has no such place", 404, headers);
    const page = found.get("index.html");
    return page === undefined ? c.text("the page was not built", 500, headers) : answer(c, page, "no-cache");
  });
}

function answer(c: Context, { bytes, gzip, type }: PageFile, caching: string): Response {
  const all = { ...headers, "content-type": type, "cache-control": caching };
  const isZipped = /\bgzip\b/.test(c.req.header("accept-encoding") ?? "");
  return isZipped ? c.body(gzip, 200, { ...all, "content-encoding": "gzip" }) : c.body(bytes, 200, all);
}

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

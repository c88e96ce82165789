import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { consolePage, readConsole } from "../../src/api/console.ts";
import { emptyFolder } from "../support/empty-folder.ts";

const texts = {
  "index.html": "<title>Belfry</title>",
  "app-1a2b.js": "run()",
  "app-1a2b.css": "a {}",
  "font.woff2": "font",
};

async function opened(files: Readonly<Record<string, string>> = texts) {
  const folder = emptyFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const page = await readConsole(pathToFileURL(`${folder}/`));
  const app = new Hono().route(
    "/console",
    consolePage(() => Promise.resolve(page)),
  );
  return async (path: string, headers: Record<string, string> = {}) => {
    const answer = await app.request(path, { headers });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const encoding = answer.headers.get("content-encoding");
    return {
      status: answer.status,
      text: (encoding === "gzip" ? gunzipSync(bytes) : bytes).toString(),
      type: answer.headers.get("content-type"),
      kept: answer.headers.get("cache-control"),
      encoding,
      policy: answer.headers.get("content-security-policy"),
    };
  };
}

const forGood = "public, max-age=31536000, immutable";

test.each([
  ["/console", "index.html", "text/html; charset=utf-8", "no-cache"],
  ["/console/", "index.html", "text/html; charset=utf-8", "no-cache"],
  ["/console/index.html", "index.html", "text/html; charset=utf-8", "no-cache"],
  ["/console/jobs/5", "index.html", "text/html; charset=utf-8", "no-cache"],
  ["/console/app-1a2b.js", "app-1a2b.js", "text/javascript; charset=utf-8", forGood],
  ["/console/app-1a2b.css", "app-1a2b.css", "text/css; charset=utf-8", forGood],
  ["/console/font.woff2", "font.woff2", "application/octet-stream", forGood],
] as const)("%s is %s", async (path, name, type, kept) => {
  const get = await opened();
  expect(await get(path)).toMatchObject({ status: 200, text: texts[name], type, kept, encoding: null });
  expect(await get(path, { "accept-encoding": "br, gzip" })).toMatchObject({
    status: 200,
    text: texts[name],
    type,
    kept,
    encoding: "gzip",
  });
  expect((await get(path, { "accept-encoding": "br" })).encoding).toBeNull();
});

test("a file of another version is not the page, which a browser would run as a script", async () => {
  const get = await opened();
  for (const path of ["/console/app-0000.js", "/console/app-0000.css"])
    expect(await get(path)).toMatchObject({
      status: 404,
      text: "this file belongs to another version: load the page again",
    });
  expect(await get("/console/jobs.js/5")).toMatchObject({ status: 200, text: texts["index.html"] });
});

test("steps up that no client has resolved are no place of the page", async () => {
  const get = await opened();
  for (const path of ["..%2f..%2fetc%2fpasswd", "jobs%2F..", "%2E%2e%2fx"])
    expect(await get(`/console/${path}`)).toMatchObject({ status: 404 });
  expect(await get("/console/schedules/a%2Fb..c")).toMatchObject({ status: 200 });
});

test("each answer has the policy, also those that are none of the page's files", async () => {
  const get = await opened();
  for (const path of ["/console", "/console/app-1a2b.js", "/console/app-0000.js"]) {
    const { policy } = await get(path);
    expect(policy).toContain("default-src 'none'; script-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  }
});

test("a page that was not built is said to be so", async () => {
  const get = await opened({ "app-1a2b.js": "run()" });
  expect(await get("/console")).toMatchObject({ status: 500, text: "the page was not built" });
  expect(await get("/console/app-1a2b.js")).toMatchObject({ status: 200 });
});

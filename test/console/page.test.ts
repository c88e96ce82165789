import { Hono } from "hono";
import { beforeAll, describe, expect, it } from "vitest";
import { consolePage, type PageFiles } from "../../src/api/console.ts";
import { bundleConsole } from "../../src/compose/bundle-console.ts";

let files: PageFiles = new Map();
let page = new Hono();

beforeAll(async () => {
  files = await bundleConsole();
  page = new Hono().route(
    "/console",
    consolePage(() => Promise.resolve(files)),
  );
});

const ask = (path: string, headers: Record<string, string> = {}) =>
  page.request(`http://127.0.0.1${path}`, { headers });
const named = (start: string): string => [...files.keys()].find((name) => name.startsWith(start)) ?? "";

describe("the page's files", () => {
  it("load with less than 60 KB: what the first screen needs, compressed", () => {
    const first = new TextDecoder().decode(files.get("index.html")?.bytes);
    const linked = [...first.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map((match) => match[1] ?? "");
    const all = new Set([...linked, ...linked.flatMap((name) => staticImports(name))]);
    const bytes = [...all].reduce((sum, name) => sum + (files.get(name)?.gzip.byteLength ?? Infinity), 0);
    expect(linked.length).toBeGreaterThanOrEqual(2);
    expect(bytes).toBeLessThan(60_000);
  });
});

describe("GET /console", () => {
  it.each(["/console", "/console/", "/console/jobs/42"])(
    "answers the page for %s, which may load nothing foreign",
    async (path) => {
      const answer = await ask(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("cache-control")).toBe("no-cache");
      const policy = answer.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(await answer.text()).toContain("<title>Belfry</title>");
    },
  );

  it("lets browsers keep a file whose name holds its content's hash, and compresses it for those who ask", async () => {
    const plain = await ask(`/console/${named("main-")}`);
    const zipped = await ask(`/console/${named("main-")}`, { "accept-encoding": "gzip" });
    expect(plain.headers.get("cache-control")).toContain("immutable");
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(zipped.headers.get("content-encoding")).toBe("gzip");
    expect((await zipped.arrayBuffer()).byteLength).toBeLessThan((await plain.arrayBuffer()).byteLength);
  });

  it("does not answer the page for a script of another version", async () => {
    const answer = await ask("/console/main-OLD.js");
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("load the page again");
  });
});

/** Files that one loads at once; those it loads later are named in `import(...)`. */
function staticImports(name: string): readonly string[] {
  const text = new TextDecoder().decode(files.get(name)?.bytes);
  return [...text.matchAll(/(?:import|from)"\.\/([^"]+)"/g)].map((match) => match[1] ?? "");
}

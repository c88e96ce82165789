import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { startProxy } from "../../src/cli/signed-proxy.ts";
import { openBrowser } from "../console/browser.ts";
import type { Check } from "./check.ts";
import { faultyServer, served } from "./faulty.ts";
import type { Target } from "./world.ts";

const settleMsMax = 15_000;

/** A page of another port of this machine, as a hostile site would serve it. */
async function hostilePage(html: string) {
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(html));
  const { url, port, close } = await served(server);
  return { url, other: `http://localhost:${port}`, close };
}

const jobsOf = async (url: string, headers: Record<string, string>): Promise<number> => {
  const { jobs } = (await (await fetch(`${url}/jobs?kind=report&limit=500`, { headers })).json()) as {
    jobs: unknown[];
  };
  return jobs.length;
};

/** What a page tries that wants a job made, or the list read, with the rights of the person who looks at it. */
const attempts = (url: string): Readonly<Record<string, string>> => ({
  "a form": `<form id=f method=post enctype="text/plain" action="${url}/jobs"><input name='{"kind":"report","a":"' value='"}'></form><script>f.submit()</script>`,
  "a request without cors": `<script>fetch("${url}/jobs",{method:"POST",mode:"no-cors",credentials:"include",headers:{"content-type":"text/plain"},body:'{"kind":"report"}'}).finally(()=>document.title="done")</script>`,
  "a request with cors": `<script>fetch("${url}/jobs",{method:"POST",credentials:"include",headers:{"content-type":"application/json"},body:'{"kind":"report"}'}).finally(()=>document.title="done")</script>`,
  "a bodiless write": `<script>fetch("${url}/schedules/nightly/trigger",{method:"POST",mode:"no-cors",credentials:"include"}).finally(()=>document.title="done")</script>`,
  "a beacon": `<script>navigator.sendBeacon("${url}/jobs",new Blob(['{"kind":"report"}'],{type:"text/plain"}));document.title="done"</script>`,
  "a read": `<script>fetch("${url}/jobs",{credentials:"include"}).then(r=>r.text()).then(t=>document.title="READ "+t.length,()=>document.title="done")</script>`,
});

async function visit(page: Page, url: string): Promise<string> {
  await page.goto(url, { waitUntil: "load", timeout: settleMsMax });
  await page
    .waitForFunction('document.title !== "" || location.pathname !== "/"', null, { timeout: 5_000 })
    .catch(() => {});
  await page.waitForLoadState("networkidle", { timeout: settleMsMax }).catch(() => {});
  return await page.title();
}

/** The page in a frame of the hostile one: does anything of it show? */
async function isFramed(page: Page, console: string): Promise<boolean> {
  const hostile = await hostilePage(`<title>outer</title><iframe src="${console}"></iframe>`);
  try {
    await page.goto(hostile.url, { waitUntil: "load", timeout: settleMsMax });
    await page.waitForLoadState("networkidle", { timeout: settleMsMax }).catch(() => {});
    const frame = page.frames().find((each) => each !== page.mainFrame());
    if (frame === undefined) return false;
    const shown = await frame.evaluate<string>("document.title").catch(() => "");
    return /Belfry/.test(shown);
  } finally {
    hostile.close();
  }
}

async function tryAll(
  page: Page,
  name: string,
  url: string,
  headers: Record<string, string>,
): Promise<readonly string[]> {
  const found: string[] = [];
  if (await isFramed(page, `${url}/console/`)) found.push(`${name}: the console shows in a frame of another site`);
  for (const [what, html] of Object.entries(attempts(url))) {
    const hostile = await hostilePage(html);
    try {
      for (const from of [hostile.url, hostile.other]) {
        const before = await jobsOf(url, headers);
        const title = await visit(page, from);
        if (title.startsWith("READ")) found.push(`${name}: ${what} from ${new URL(from).hostname} reads the answer`);
        if ((await jobsOf(url, headers)) > before)
          found.push(`${name}: ${what} from ${new URL(from).hostname} made a job`);
      }
    } finally {
      hostile.close();
    }
  }
  return found;
}

/** The API itself, and `belfry console`'s proxy in a browser that the operator has signed in. */
async function run(target: Target): Promise<readonly string[]> {
  const opened = await openBrowser();
  if (typeof opened === "string") return [opened];
  const proxy = await startProxy(async ({ method, path, headers, body }) => {
    const content = body === "" ? {} : { body };
    return await fetch(`${target.url}${path}`, { method, headers, ...content, redirect: "manual" });
  });
  try {
    const context = await opened.browser.newContext();
    const page = await context.newPage();
    const direct = await tryAll(page, "the API", target.url, {});
    await page.goto(proxy.open, { timeout: settleMsMax });
    const behind = await tryAll(page, "belfry console", proxy.url, { authorization: `Bearer ${proxy.bearer}` });
    return [...direct, ...behind];
  } finally {
    proxy.close();
    await opened.close();
  }
}

export const pageCheck: Check = {
  name: "framing and CSRF in Chromium",
  async missing() {
    const opened = await openBrowser();
    if (typeof opened === "string") return opened;
    await opened.close();
    return null;
  },
  run,
  faults: {
    "a server that drops the headers of the page, and looks at no origin": (target) =>
      faultyServer(target, {
        hides: ["origin", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "content-type"],
        adds: { "content-type": "application/json" },
        after(given) {
          const { "content-security-policy": _, "x-frame-options": __, ...headers } = given.headers;
          return { ...given, headers };
        },
      }),
  },
};

import { expect, test } from "vitest";
import { searchFields } from "../../src/api/routes/jobs.ts";
import { belfry, serveApi } from "./harness.ts";
import { eachTest } from "../support/each-test.ts";

const { call, belfry: run } = eachTest(() => serveApi());

async function planted(count: number, delay = "1h") {
  const opened = await serveApi();
  for (let n = 0; n < count; n += 1) await opened.call("POST", "/jobs", { kind: "ping", key: `k${n}`, delay });
  return { ...opened, env: { BELFRY_URL: opened.url } };
}

test("--all follows every page, in a table and in JSON, and says of no further one", async () => {
  await Promise.all(Array.from({ length: 501 }, () => call("POST", "/jobs", { kind: "ping", delay: "1h" })));
  const all = await run("jobs", "list", "--all", "--json");
  expect(all.json.jobs).toHaveLength(501);
  expect([all.json.nextCursor, all.err]).toEqual([null, ""]);
  expect((await run("jobs", "list", "--all")).out.trim().split("\n")).toHaveLength(502);
});

test("jobs list and a redrive take every field of the search", async () => {
  const fields = Object.keys(searchFields);
  const optionOf = (field: string): string =>
    `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} <`;
  const missing = async (fields: readonly string[], ...args: string[]) => {
    const { out } = await run(...args, "--help");
    return fields.filter((field) => !out.includes(`  ${optionOf(field)}`));
  };
  expect(await missing(fields, "jobs", "list")).toEqual([]);
  // All are FAILED, and the groups have an option of their own.
  expect(await missing(fields, "dead-letters", "redrive")).toEqual(["state", "fingerprint"]);
});

test("--payload compares members of the payload, and names what is none", async () => {
  for (const name of ["Ada", "Bo"]) await call("POST", "/jobs", { kind: "greet", payload: { name }, delay: "1h" });
  const found = await run("jobs", "list", "--payload", "name=Ada", "--json");
  expect(found.json.jobs).toMatchObject([{ payload: { name: "Ada" } }]);
  const dry = await run("dead-letters", "redrive", "--payload", "name=Ada", "--dry-run", "--json");
  expect(dry.json).toMatchObject({ matched: { count: 0 } });
  expect(await run("jobs", "list", "--payload", "name")).toMatchObject({
    code: 2,
    err: expect.stringContaining('"name"'),
  });
});

test("--since keeps what was due no longer ago, and names a duration that it cannot read", async () => {
  const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
  for (const [key, dueAt] of [
    ["old", ago(7_200_000)],
    ["fresh", ago(60_000)],
  ] as const) {
    await call("POST", "/jobs", { kind: "ping", key, dueAt });
  }
  expect((await run("jobs", "list", "--since", "1h", "--json")).json.jobs).toMatchObject([{ key: "fresh" }]);
  expect((await run("jobs", "list", "--since", "3h", "--json")).json.jobs).toHaveLength(2);
  expect(await run("jobs", "list", "--since", "soon")).toMatchObject({
    code: 2,
    err: expect.stringContaining('"soon"'),
  });
});

test("--tz writes times by the clock of a zone, and names one that does not exist", async () => {
  await call("POST", "/jobs", { kind: "ping", key: "k", dueAt: "2026-11-22T23:30:00Z" });
  const seoul = await run("jobs", "list", "--columns", "key,due", "--tz", "Asia/Seoul");
  expect(seoul.out).toContain("2026-11-23 08:30");
  expect((await run("jobs", "list", "--tz", "Asia/Soul")).code).toBe(2);
});

test("--watch lists again until it is interrupted, and clears a terminal alone", async () => {
  const { env, call } = await planted(1);
  const interrupt = new AbortController();
  const listsIn = (text: string): number => text.split("k0").length - 1;
  let listsAtEnd = 0;
  let later: Promise<unknown> | undefined;
  const onOut = (text: string): void => {
    if (listsIn(text) > 0) later ??= call("POST", "/jobs", { kind: "ping", key: "later", delay: "1h" });
    // On a busy machine some lists come before it is made.
    if (!text.includes("later") || interrupt.signal.aborted) return;
    listsAtEnd = listsIn(text);
    interrupt.abort();
  };
  const { code, out } = await belfry(["jobs", "list", "--watch", "--columns", "key"], {
    env,
    interrupted: interrupt.signal,
    onOut,
  });
  expect(code).toBe(130);
  await later;
  expect(listsAtEnd).toBeGreaterThan(1);
  expect(listsIn(out)).toBe(listsAtEnd);
  expect(out.indexOf("later")).toBeGreaterThan(out.indexOf("k0"));
  expect(out).not.toContain("\u001b[2J");
});

test.each(["bash", "zsh", "fish"])(
  "the script for %s asks the command line itself, with the word that is begun",
  async (shell) => {
    const { code, out } = await run("completion", shell);
    expect(code).toBe(0);
    expect(out).toContain("__complete");
    expect(out).toContain(
      { bash: "complete -o default -F _belfry belfry", zsh: "#compdef belfry", fish: "complete -c belfry" }[shell],
    );
  },
);

import { schedulerLock } from "../../src/schedule/pass.ts";
import { expect, onTestFinished, test } from "vitest";
import { exits, exitsText } from "../../src/cli/exit.ts";
import { blankDatabase } from "../support/database.ts";
import { belfry, originOf, serveApi, shapeOf } from "./harness.ts";
import { emptyFolder } from "../support/empty-folder.ts";
import { given, leaves, planted } from "./planted.ts";

/** They look at this machine, make something on it, or go on until they are stopped. */
const elsewhere = [
  "cells show",
  "cells init",
  "cells move",
  "cells forget",
  "jobs run",
  "import crontab",
  "import eventbridge",
  "import pg-boss",
  "import graphile-worker",
  "completion",
  "check",
  "migrate",
  "doctor",
  "init",
  "bundle",
  "console",
  "mcp",
  "dev",
];
const reads =
  /^(explain|locks|workers|archive|costs|kinds|events|(\w|-)+ (list|show|watch|next|history|explain|preview|upcoming|simulate|objectives))$/;

test("no command is left out here, nor in the table of exit codes", () => {
  expect([...Object.keys(given), ...elsewhere].toSorted()).toEqual(leaves.toSorted());
  expect(Object.keys(exits).toSorted()).toEqual(leaves.toSorted());
});

test("the JSON of every command is what the API answered, and its text steers no terminal", async () => {
  const { run, call, insight, answers } = await planted();
  const { run: runQuery } = insight;
  let looks = 0;
  // Something must happen between the first look of `events` and its second.
  insight.run = async (query, params) => {
    if (query.name === "stream-end") looks += 1;
    if (query.name === "stream-end" && looks === 2) await call("POST", "/jobs", { kind: "ping" });
    return await runQuery(query, params);
  };
  const lines: string[] = [];
  for (const leaf of Object.keys(given)) {
    const before = answers.length;
    const { code, json, err } = await run(leaf, "--json");
    expect({ leaf, code, err: code === 0 ? "" : err }).toEqual({ leaf, code: 0, err: "" });
    lines.push(`${leaf}: ${originOf(json, answers.slice(before))}\n`);
  }
  await expect(lines.join("")).toMatchFileSnapshot("./every-command.txt");
  // The run goes on again by now, and so would a watch of it.
  for (const leaf of Object.keys(given).filter((each) => reads.test(each) && each !== "runs watch")) {
    expect((await run(leaf)).out).not.toContain("\u001b[31m");
  }
});

test("the JSON of the commands of this machine keeps its shape", async () => {
  const { url, close } = await blankDatabase();
  onTestFinished(close);
  const api = await serveApi();
  const shape = async (args: string, settings: Parameters<typeof belfry>[1]) => {
    const { code, json } = await belfry([...args.split(" "), "--json"], settings);
    expect({ args, code }).toEqual({ args, code: 0 });
    expect(shapeOf(json)).toMatchSnapshot(args);
  };
  await api.store.installFence({ name: schedulerLock, token: 1 });
  await api.store.passed({ name: schedulerLock, token: 1 });
  await shape("check --stage prod", {});
  await shape("migrate --stage prod", { env: { DATABASE_URL: url } });
  await shape("doctor --local", { env: { BELFRY_URL: api.url } });
  await shape("init reports", { folder: emptyFolder() });
});

test.each(leaves)("%s --help says what it does, shows an example and ends with its exit codes", async (leaf) => {
  const { code, out, err } = await belfry([...leaf.split(" "), "--help"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(
    new RegExp(
      `^Usage: belfry ${leaf}[| ].*\\n\\n\\w.+\\n[^]*Example:\\n  \\$ .*npx belfry ${leaf.replace(" list", "( list)?")}`,
    ),
  );
  expect(out.endsWith(`${exitsText(exits[leaf])}\n`)).toBe(true);
});

test("what is given an unknown id is 3, and 2 for one that no URL can carry", async () => {
  const { belfry: at } = await serveApi();
  for (const leaf of Object.keys(given).filter(
    (each) => /\b(JOB|ENDED|RUN|nightly|ping-often)\b/.test(given[each] ?? "") && !/create|pause/.test(each),
  )) {
    const rest = (given[leaf] ?? "").split(" ").slice(1);
    const unknown = leaf.startsWith("schedules") ? "none" : "999999";
    expect({ leaf, code: (await at(...leaf.split(" "), unknown, ...rest)).code }).toEqual({ leaf, code: 3 });
    for (const id of ["", ".", ".."])
      expect({ leaf, id, code: (await at(...leaf.split(" "), id, ...rest)).code }).toEqual({ leaf, id, code: 2 });
  }
});

test("a stage that is named is the one that is migrated, wherever it is named", async () => {
  const { url, close } = await blankDatabase();
  onTestFinished(close);
  const env = { DATABASE_URL: url };
  for (const args of [
    ["migrate", "--stage", "prod"],
    ["--stage", "prod", "migrate"],
  ]) {
    expect((await belfry([...args, "--json"], { env })).json).toMatchObject({
      stage: "prod",
      sets: [{ name: "belfry" }],
    });
  }
  expect(await belfry(["migrate", "--stage", "nowhere"], { env })).toMatchObject({ code: 2 });
});

test("an option by which other command lines write JSON is answered with ours", async () => {
  expect(await belfry(["jobs", "list", "-o", "json"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("--json"),
  });
});

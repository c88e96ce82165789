import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { output } from "../../src/cli/output.ts";
import { program } from "../../src/cli/program.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { stages } from "../support/own-project.ts";
import { topology } from "../../src/stage/topology.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { resources, templateOf } from "./synthesize.ts";

const book = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
/** Lines of a paragraph are broken anywhere, also inside of a command. */
const inline = [...book.replaceAll(/```[\s\S]*?```/g, "").matchAll(/`([^`]+)`/g)].map(([, text = ""]) =>
  text.replaceAll(/\s+/g, " ").trim(),
);
const blocks = [...book.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
const shell = [...inline, ...blocks].join("\n");

const long = defineJob({ id: "long", runOn: "fargate", concurrency: 2, run: () => {} });
const all = topology([defineApp({ name: "a", jobs: [long] })], stages.prod);
const aurora = { kind: "aurora", instanceClass: "db.r8g.large", backupDays: 7, onDelete: "keep" } as const;
/** With both kinds of scheduler and of server. */
const templates = [
  templateOf(all, { scheduler: "each-minute" }),
  templateOf(all, { scheduler: "service", database: aurora }),
];

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase({ own: true });
});
afterAll(() => database.close());

/** `for part in A B; do ... named TYPE $part` stands for one name after the other. */
const parts = /for part in ([^;]+);/.exec(shell)?.[1]?.split(" ") ?? [];
const named = [
  ...[...shell.matchAll(/named ([A-Z]\w*::\w+) ([\w$]+)/g)].flatMap(([, type = "", name = ""]) =>
    name === "$part" ? parts.map((part) => [type, part]) : [[type, name]],
  ),
  ...[...shell.matchAll(/\blogs ([A-Z]\w+)/g)].map(([, name = ""]) => ["Logs::LogGroup", name]),
  ...[...shell.matchAll(/messages ([A-Z]\w+)/g)].map(([, name = ""]) => ["SQS::Queue", name]),
].map(([type = "", name = ""]) => [type, name] as const);

test("the runbook names a good many things", () => {
  expect(named.length).toBeGreaterThan(25);
  expect(parts.length).toBeGreaterThan(5);
});

test.each(named)("there is an AWS::%s whose id begins with %s", (type, name) => {
  const found = templates
    .flatMap((each) => resources(each, `AWS::${type}`))
    .filter(({ id }) => id.startsWith(`Belfry${name}`));
  expect(found.map(({ id }) => id)).not.toEqual([]);
});

test("the section that stops everything names all that starts processes by itself", () => {
  const section = book.split("\n## Stop everything")[1]?.split("\n## ")[0] ?? "";
  const stopped = [...section.matchAll(/named ([A-Z]\w*::\w+) (\w+)/g)].map(
    ([, type, name]) => `${type} Belfry${name}`,
  );
  // A rule about ended tasks (EventPattern) starts nothing new.
  const starts = {
    "Lambda::EventSourceMapping": "BatchSize",
    "ECS::Service": "DesiredCount",
    "Events::Rule": "ScheduleExpression",
  };
  const own = Object.entries(starts).flatMap(([type, field]) =>
    templates
      .flatMap((each) => resources(each, `AWS::${type}`))
      .filter(({ Properties }) => Properties[field] !== undefined)
      .map(({ id }) => `${type} ${id}`),
  );
  expect(own.length).toBeGreaterThan(4);
  expect(own.filter((line) => !stopped.some((prefix) => line.startsWith(prefix)))).toEqual([]);
});

const streams = { out: () => "", err: () => "", isTerminal: false };
const cli = await program({ streams, env: {}, folder: "/" }, output(streams, false));
const commands = [...shell.matchAll(/\bbelfry ((?:[a-z]+-?[a-z]*)(?: (?:--?)?[\w-]+)*)/g)]
  .map(([, text = ""]) => text)
  .filter((text) => cli.commands.some((each) => each.name() === text.split(" ")[0]) || text.startsWith("jobs"));

test.each([...new Set(commands)])("belfry %s is a command with these options", (text) => {
  const words = text.split(" ");
  let command: Command = cli;
  while (command.commands.length > 0) {
    const next = command.commands.find((each) => each.name() === words[0]);
    expect(`${words[0]} of ${command.name()}: ${next?.name()}`).toBe(`${words[0]} of ${command.name()}: ${words[0]}`);
    if (next === undefined) return;
    command = next;
    words.shift();
  }
  const known = new Set(command.options.map(({ long: name }) => name));
  expect(words.filter((word) => word.startsWith("--") && !known.has(word))).toEqual([]);
});

const indented = [...book.matchAll(/^ {4}(select .*);$/gm)].map(([, text = ""]) => text);
const statements = [...inline.filter((text) => /^(select|vacuum) /.test(text)), ...indented];

test("there is SQL for the first look", () => {
  expect(statements.length).toBeGreaterThan(5);
});

test.each(statements)("the database takes: %s", async (text) => {
  const statement = text.replace("PID", "0");
  // A statement that is only planned cannot end another session.
  await expect(
    database.pool.query(text.startsWith("select") ? `explain ${statement}` : statement),
  ).resolves.toBeDefined();
});

test.each(blocks.map((text, index) => [index + 1, text] as const))("block %i is a program of the shell", (_, text) => {
  expect(spawnSync("bash", ["-n"], { input: text, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
});

test("no section but the three at the end is without cause, check and action", () => {
  const sections = book.split("\n## ").slice(1);
  const lacking = sections
    .filter((text) => /^[a-z-]+\n/.test(text))
    .filter((text) => !["**Cause.**", "**Check.**", "**Action.**"].every((part) => text.includes(part)));
  expect(sections.length).toBeGreaterThan(22);
  expect(lacking).toEqual([]);
});

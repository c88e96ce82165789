import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { checkAgainst } from "../../src/define/against.ts";
import type { Json } from "../../src/machine/job.ts";
import { describe as line } from "../../src/define/problem.ts";
import { defineApp, defineDataGraph, defineGraph, defineJob, type Job } from "../../src/compose/index.ts";
import { lasting, migrationFiles, ownFolder } from "../../src/postgres/migration-files.ts";
import { definitionOf } from "../../src/define/define-job.ts";
import { isGraph, planRun } from "../../src/run/run-graph.ts";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { freshFolder } from "../local/folder.ts";
import { belfry, serveApi, signIn } from "./harness.ts";
import { stackWithApi } from "./stack-with-api.ts";

const laterFiles = migrationFiles(ownFolder)
  .slice(1)
  .map(({ name }) => name)
  .filter((name) => !name.includes("_expand_"));
const mail = (payload: z.ZodType<{ to: string }, { to: string }>) => defineJob({ id: "mail", payload, run: () => {} });
const graph = (version: number, { more = false } = {}) =>
  defineGraph({
    id: "night",
    version,
    tasks: (task) => {
      const first = task("first", { run: () => null });
      if (more) task("second", { after: { first }, run: () => null });
    },
  });
/** As `belfry runs` shows one that this graph started. */
async function startedBy(job: Job<never>, input: Json = null) {
  const definition = definitionOf(job);
  if (!isGraph(definition)) throw new Error("not a graph");
  const options = { key: "k", trace: "t", starterId: null, parentId: null };
  const { kind, version, shape } = await planRun(definition, input, options);
  return { id: "3", kind, version, shape, input: null };
}
const waits = (payload: unknown) => ({ jobs: [{ id: "7", kind: "mail", payload }], runs: [] });
const against = async (jobs: Parameters<typeof defineApp>[0]["jobs"], waiting: Parameters<typeof checkAgainst>[2]) =>
  (await checkAgainst([defineApp({ name: "a", ...(jobs === undefined ? {} : { jobs }) })], "prod", waiting)).map(line);

test("nothing is said of what these definitions can run", async () => {
  expect(await against([mail(z.object({ to: z.string() }))], waits({ to: "ada" }))).toEqual([]);
});

test("a kind that is gone is refused while a job of it waits, once for all of them", async () => {
  const two = [7, 8].map((id) => ({ id: String(id), kind: "mail", payload: {} }));
  const [only, ...others] = await against([], { jobs: two, runs: [] });
  expect(only).toContain(
    'kinds.mail "mail" is not defined here, and job 7 of it waits (and 1 more); keep its definition',
  );
  expect(others).toEqual([]);
});

test("a payload that was narrowed is refused by the job that has the old one", async () => {
  const [only] = await against([mail(z.object({ to: z.email() }))], waits({ to: "ada" }));
  expect(only).toMatch(/kinds\.mail\.payload .* must take what waits: job 7 has "to" that .*; widen the schema/);
});

test("each member that is refused is a problem of its own, counted by itself", async () => {
  const jobs = [{}, { from: 1 }, { from: "bob" }, { to: "ada" }].map((payload, n) => ({
    id: `${n}`,
    kind: "mail",
    payload,
  }));
  const strict = defineJob({ id: "mail", payload: z.object({ from: z.string(), to: z.string() }), run: () => {} });
  const found = await against([strict], { jobs, runs: [] });
  expect(found).toEqual([
    expect.stringMatching(/job 0 has "from" that .* \(and 2 more\)/),
    expect.stringMatching(/job 2 has "to" that [^(]*;/),
  ]);
});

test("the input of an open run that was narrowed is refused as an input", async () => {
  const run = { id: "3", kind: "mail", version: 1, shape: null, input: { to: "ada" } };
  const [only] = await against([mail(z.object({ to: z.email() }))], { jobs: [], runs: [run] });
  expect(only).toMatch(/kinds\.mail\.input .* must take what waits: run 3 has "to" that /);
});

test("an open run keeps its graph, its input and its version", async () => {
  const run = { id: "3", kind: "night", version: 2, shape: null, input: null };
  expect(await against([graph(2)], { jobs: [], runs: [run] })).toEqual([]);
  expect(await against([graph(3)], { jobs: [], runs: [run] })).toEqual([]);
  expect((await against([graph(1)], { jobs: [], runs: [run] }))[0]).toContain(
    "kinds.night.version 1 must not be lower than 2, the version of run 3",
  );
  expect((await against([], { jobs: [], runs: [run] }))[0]).toContain("is not defined here, and run 3 of it waits");
});

test("a graph whose tasks or edges changed under the same version is refused; another version is not", async () => {
  const before = graph(2);
  const run = await startedBy(before);
  expect(await against([before], { jobs: [], runs: [run] })).toEqual([]);
  const [only] = await against([graph(2, { more: true })], { jobs: [], runs: [run] });
  expect(only).toMatch(/kinds\.night\.version 2 must have the tasks and edges of run 3, .*; raise the version/);
  expect(await against([graph(3, { more: true })], { jobs: [], runs: [run] })).toEqual([]);
});

test("a graph that comes as data is compared for the input of the open run, unless its tasks cannot be computed", async () => {
  const layers = (version: number, tasks: (n: number) => readonly { name: string }[]) =>
    defineDataGraph({
      id: "night",
      version,
      input: z.object({ n: z.number(), key: z.string() }),
      graph: ({ n }) => tasks(n),
      run: () => {},
    });
  const named = (prefix: string) => (n: number) => Array.from({ length: n }, (_, k) => ({ name: `${prefix}${k}` }));
  const before = layers(2, named("a"));
  const input = { n: 3, key: "k" };
  const run = { ...(await startedBy(before, input)), input };
  expect(await against([before], { jobs: [], runs: [run] })).toEqual([]);
  const renamed = layers(2, named("b"));
  const [only] = await against([renamed], { jobs: [], runs: [run] });
  expect(only).toMatch(/kinds\.night\.version 2 must have the tasks and edges of run 3/);
  expect(await against([layers(3, named("b"))], { jobs: [], runs: [run] })).toEqual([]);
  const hidden = { ...run, input: { n: 3, key: "[hidden]" } };
  expect(await against([renamed], { jobs: [], runs: [hidden] })).toEqual([]);
  const away = layers(2, () => {
    throw new Error("the file is not here");
  });
  expect(await against([away], { jobs: [], runs: [run] })).toEqual([]);
});

test("a graph that comes as data is computed from its input with the defaults, as when the run started", async () => {
  const night = defineDataGraph({
    id: "night",
    version: 2,
    input: z.object({ n: z.number().default(2) }),
    graph: ({ n }) => Array.from({ length: n }, (_, k) => ({ name: `a${k}` })),
    run: () => {},
  });
  const run = { ...(await startedBy(night, {})), input: {} };
  expect(await against([night], { jobs: [], runs: [run] })).toEqual([]);
  expect(await against([night], { jobs: [], runs: [{ ...run, input: { n: 3 } }] })).toHaveLength(1);
});

test("the order in which tasks and their predecessors are written is no change of a graph", async () => {
  const joined = (names: readonly string[]) =>
    defineGraph({
      id: "night",
      version: 2,
      tasks: (task) => {
        const after = Object.fromEntries(names.map((name) => [name, task(name, { run: () => null })]));
        task("last", { after, run: () => null });
      },
    });
  const run = await startedBy(joined(["a", "b"]));
  expect(await against([joined(["b", "a"])], { jobs: [], runs: [run] })).toEqual([]);
  expect(await against([joined(["a", "c"])], { jobs: [], runs: [run] })).toHaveLength(1);
});

test("check --against reads what waits through the API, and refuses by name", async () => {
  const { url, ...at } = await serveApi();
  const known = await belfry(["check", "--against", "prod", "--json"], { env: { BELFRY_URL: url } });
  expect(known.code).toBe(0);
  expect(known.json).toMatchObject({ against: { stage: "prod", jobs: 0, runs: 0, isMore: false, problems: [] } });
  // Its API answers that the tables are at version 1.
  expect(known.json).toMatchObject({ against: { lasting: [{ of: "belfry", files: laterFiles }] } });
  const said = await belfry(["check", "--against", "prod"], { env: { BELFRY_URL: url } });
  expect(said.out)
    .toContain(`this release cannot be taken back: the one before it does not start behind these migrations
  belfry: ${laterFiles.join(", ")}`);
  await at.belfry("jobs", "enqueue", "ping");
  const { code, out } = await belfry(["check", "--against", "prod"], { env: { BELFRY_URL: url } });
  expect(code).toBe(1);
  expect(out).toContain("what waits in prod: 1 problem");
  expect(out).toContain('kinds.ping "ping" is not defined here, and job 1 of it waits');
});

test("files that only expand the tables are no reason against going back, nor are those that the stage has", () => {
  const folder = freshFolder();
  for (const name of ["0001_a.sql", "0002_expand_b.sql", "0003_drop_c.sql"])
    writeFileSync(join(folder, name), "select 1");
  expect([0, 1, 2, 3].map((version) => lasting(folder, version))).toEqual([
    ["0001_a.sql", "0003_drop_c.sql"],
    ["0003_drop_c.sql"],
    ["0003_drop_c.sql"],
    [],
  ]);
});

test("--stage finds the URL in the stack's outputs and signs every request for it", async () => {
  signIn();
  const other = stackWithApi("team-jobs-dev", "dev", "https://dev.lambda-url.eu-west-1.on.aws/");
  const calls: { url: string; authorization: string | undefined; body: unknown }[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString();
    const headers = init?.headers as Record<string, string> | undefined;
    calls.push({ url: url, authorization: headers?.["authorization"], body: init?.body });
    if (!url.includes("cloudformation")) return Response.json({ jobs: [], nextCursor: null });
    if (typeof init?.body !== "string" || !init.body.includes("NextToken"))
      return new Response(`${other}<NextToken>2</NextToken>`);
    return new Response(stackWithApi("team-jobs", "prod", "https://abc.lambda-url.eu-west-1.on.aws/"));
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const { code } = await belfry(["jobs", "list", "--stage", "prod"], { env: { AWS_REGION: "eu-west-1" } });
  expect(code).toBe(0);
  expect(calls.map(({ url }) => new URL(url).hostname)).toEqual([
    "cloudformation.eu-west-1.amazonaws.com",
    "cloudformation.eu-west-1.amazonaws.com",
    "abc.lambda-url.eu-west-1.on.aws",
  ]);
  expect(calls[2]?.authorization).toMatch(/Credential=AKIDEXAMPLE\/\d+\/eu-west-1\/lambda\/aws4_request/);
});

test("two stacks with one stage are refused by name", async () => {
  signIn();
  const both = ["team-a", "team-b"]
    .map((stack) => stackWithApi(stack, "prod", `https://${stack}.example.com/`))
    .join("");
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response(both));
  onTestFinished(() => void vi.restoreAllMocks());
  const { code, err } = await belfry(["jobs", "list", "--stage", "prod"], { env: { AWS_REGION: "eu-west-1" } });
  expect(code).toBe(2);
  expect(err).toMatch(/^error: stacks team-a and team-b both have a stage "prod"\n +name its address with --url/);
});

test("--stage says first that the project has no such stage, then that a region is to be set", async () => {
  const folder = fileURLToPath(new URL("../../", import.meta.url));
  const list = async (stage: string) => await belfry(["jobs", "list", "--stage", stage], { folder });
  const region = expect.stringContaining("AWS_REGION") as unknown;
  expect(await list("prod")).toMatchObject({ code: 2, err: region });
  const known = expect.stringMatching(/^error: --stage is "nosuch"; use dev, .*prod/) as unknown;
  expect(await list("nosuch")).toMatchObject({ code: 2, err: known });
});

test("a stage that is not deployed yet has nothing that waits, and one that does not answer is still an error", async () => {
  signIn();
  const answering = async (status: number, text: string): Promise<string> => {
    const server = createServer((_, response) => void response.writeHead(status).end(text));
    const port = await listenOnLoopback(server, 0, "CloudFormation");
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${port}`;
  };
  const missing = await answering(200, "<DescribeStacksResult><Stacks/></DescribeStacksResult>");
  const there = { AWS_REGION: "eu-west-1", AWS_ENDPOINT_URL: missing };
  expect(await belfry(["check", "--against", "prod"], { env: there })).toMatchObject({
    code: 0,
    out: expect.stringContaining("what waits in prod: it is not deployed yet") as unknown,
  });
  const broken = { ...there, AWS_ENDPOINT_URL: await answering(500, "<Message>Rate exceeded</Message>") };
  expect(await belfry(["check", "--against", "prod"], { env: broken })).toMatchObject({ code: 3 });
});

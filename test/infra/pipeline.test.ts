/** The commands of deploy.yml, run against an account that lets their role do what `infra/github.ts` says, and no more. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Template } from "aws-cdk-lib/assertions";
import { expect, onTestFinished, test } from "vitest";
import { GithubRoles } from "../../infra/github.ts";
import { apiDescription } from "../../src/stage/deployed-api.ts";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { belfry, serveApi, signIn } from "../cli/harness.ts";
import { emptyFolder } from "../support/empty-folder.ts";
import { stackWithApi } from "../cli/stack-with-api.ts";
import { isAllowed, type Right } from "./policy.ts";
import { newApp } from "./synthesize.ts";

const template = Template.fromStack(new GithubRoles(newApp(), "belfry-github", { repository: "acme/jobs" }));
const workflow = readFileSync(new URL("../../.github/workflows/deploy.yml", import.meta.url), "utf8");
const account = "123456789012";
const arn = (service: string, what: string): string => `arn:aws:${service}:eu-west-1:${account}:${what}`;
const pattern = /npx belfry ([^\n]+)|aws ([a-z]+) ([a-z-]+)/g;

/** Each command, by the role of its job. */
const steps = workflow.split(/^ {2}(?=\w+:$)/m).flatMap((job) => {
  const role = /role-to-assume: \$\{\{ vars\.AWS_([A-Z]+)_ROLE/.exec(job)?.[1]?.toLowerCase() ?? "";
  return [...job.matchAll(pattern)].map(([line, own, service, command]) => ({
    line,
    role: role === "diff" ? "Diff" : "Deploy",
    args: own?.split(" ") ?? null,
    right: { action: `${service}:${pascal(command)}`, resource: "*" },
  }));
});
function pascal(words = ""): string {
  return words.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** What a request to AWS asks for, as its service's documentation says. */
function rightsOf(request: IncomingMessage, body: string, stage: string): readonly Right[] {
  const service = /Credential=[^/]+\/\d+\/[^/]+\/(\w+)\//.exec(request.headers.authorization ?? "")?.[1];
  const form = new URLSearchParams(body);
  if (service === "cloudformation") {
    const name = form.get("StackName");
    const described = `cloudformation:${form.get("Action")}`;
    if (name !== null) return [{ action: described, resource: arn("cloudformation", `stack/${name}/1a`) }];
    return [described, "cloudformation:ListStacks"].map((action) => ({ action, resource: "*" }));
  }
  if (service !== "lambda") throw new Error(`no rights are known for ${service} ${request.url}`);
  const resource = arn("lambda", `function:belfry-${stage}-BelfryHttpApiFunction1A2B3C-x`);
  const context = { "lambda:InvokedViaFunctionUrl": "true" };
  return ["lambda:InvokeFunctionUrl", "lambda:InvokeFunction"].map((action) => ({ action, resource, context }));
}

interface Account {
  readonly role: string;
  readonly stage: string;
  readonly isDeployed: boolean;
}

async function serveAccount({ role, stage, isDeployed }: Account) {
  const api = isDeployed ? (await serveApi()).url : "";
  const denied: string[] = [];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat((await request.toArray()) as Buffer[]).toString();
      const rights = rightsOf(request, body, stage);
      asked.push(...rights.map(({ action }) => action));
      denied.push(...rights.filter((right) => !isAllowed(template, role, right)).map(({ action }) => action));
      if (denied.length > 0) return response.writeHead(403).end("<Message>AccessDenied</Message>");
      if (body.startsWith("Action=")) return describe(body, response);
      const { method = "GET", url = "/" } = request;
      const headers = { "content-type": "application/json" };
      const answer = await fetch(new URL(url, api), { method, headers, ...(body === "" ? {} : { body }) });
      return response.writeHead(answer.status, headers).end(await answer.text());
    })();
  });
  const port = await listenOnLoopback(server, 0, "an account");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${port}`;
  const describe = (body: string, response: ServerResponse) => {
    if (isDeployed) return response.end(stackWithApi(`belfry-${stage}`, stage, `${url}/`));
    if (!body.includes("StackName")) return response.end("<Stacks/>");
    return response.writeHead(400).end("<Message>Stack with id belfry does not exist</Message>");
  };
  return { url, denied, asked };
}

/** As the pipeline has it from the job that checks. */
function folderWithRelease(stage: string): string {
  const folder = emptyFolder();
  mkdirSync(join(folder, "cdk.out"));
  const properties = { templateFile: "t.json", stackName: `belfry-${stage}` };
  const artifacts = { [`belfry-${stage}`]: { type: "aws:cloudformation:stack", properties } };
  writeFileSync(join(folder, "cdk.out/manifest.json"), JSON.stringify({ artifacts }));
  const Outputs = { Url: { Description: apiDescription({ system: `belfry-${stage}`, stage }) } };
  writeFileSync(join(folder, "cdk.out/t.json"), JSON.stringify({ Outputs }));
  return folder;
}

async function ran({ args, role }: (typeof steps)[number], { hasRelease = true, isDeployed = true } = {}) {
  if (args === null) throw new Error("not a command of Belfry");
  signIn();
  const stage = args[args.findIndex((each) => /^--(stage|against)$/.test(each)) + 1] ?? "";
  const { url, denied, asked } = await serveAccount({ role, stage, isDeployed });
  const folder = hasRelease ? folderWithRelease(stage) : emptyFolder();
  // Nothing works here: it is enough that the job is there and is looked at.
  const line = args
    .join(" ")
    .replace("enqueue hello", "enqueue ping")
    .replace(/--timeout \d+/, "--timeout 1");
  const env = { AWS_REGION: "eu-west-1", AWS_ENDPOINT_URL: url };
  const { code, out, err } = await belfry(line.split(" "), { env, folder });
  return { code, denied, asked, said: out + err };
}

const ofBelfry = steps.filter(({ args }) => args !== null);

test("deploy.yml has commands of both roles", () => {
  expect(ofBelfry.map(({ role, args }) => [role, args?.join(" ")])).toEqual([
    ["Diff", "check --against prod"],
    ["Deploy", "--stage small jobs enqueue hello --wait --timeout 300"],
    ["Deploy", "check --against prod"],
    ["Deploy", "--stage prod jobs enqueue hello --wait --timeout 300"],
  ]);
});

test.each(ofBelfry)(
  "the role of $role may do all that `$line` calls, with the release at hand and without",
  async (step) => {
    for (const hasRelease of [true, false]) {
      const { denied, asked, said } = await ran(step, { hasRelease });
      expect(denied).toEqual([]);
      expect(asked).toContain("lambda:InvokeFunction");
      expect(said).toMatch(/what waits in prod: ok|job \d has not ended within 1 s/);
      // The stack is known by its name: one call finds the address.
      expect(asked.filter((each) => each.startsWith("cloudformation:")).includes("cloudformation:ListStacks")).toBe(
        !hasRelease,
      );
    }
  },
);

test("the first deployment passes the check of what waits, because nothing does", async () => {
  const [step] = ofBelfry;
  if (step === undefined) throw new Error("deploy.yml has no step");
  for (const hasRelease of [true, false]) {
    const { code, denied, said } = await ran(step, { hasRelease, isDeployed: false });
    expect([code, denied]).toEqual([0, []]);
    expect(said).toContain("what waits in prod: it is not deployed yet");
  }
});

test.each(steps.filter(({ args }) => args === null))("the role of $role may call `$line`", ({ role, right }) => {
  expect(isAllowed(template, role, right)).toBe(true);
});

test("no role may invoke the API past its URL, or another function", () => {
  const own = arn("lambda", "function:belfry-prod-BelfryHttpApiFunction1A2B3C-x");
  const context = { "lambda:InvokedViaFunctionUrl": "true" };
  for (const role of ["Diff", "Deploy"]) {
    expect(isAllowed(template, role, { action: "lambda:InvokeFunction", resource: own })).toBe(false);
    const other = { action: "lambda:InvokeFunction", resource: arn("lambda", "function:pay"), context };
    expect(isAllowed(template, role, other)).toBe(false);
  }
});

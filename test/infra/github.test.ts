import { readFileSync } from "node:fs";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { GithubRoles } from "../../infra/github.ts";
import { topology } from "../../src/stage/topology.ts";
import { stages } from "../support/own-project.ts";
import { newApp, resources, templateOf } from "./synthesize.ts";

const template = Template.fromStack(new GithubRoles(newApp(), "belfry-github", { repository: "acme/jobs" }));
const roleNamed = (name: string) => resources(template, "AWS::IAM::Role").find(({ id }) => id.startsWith(name));
const policyOf = (name: string): string =>
  JSON.stringify(resources(template, "AWS::IAM::Policy").find(({ id }) => id.startsWith(name))?.Properties);

test("each role is for one use of one repository, and no other token takes it", () => {
  const subjects = ["Diff", "Deploy", "Drift"].map((name) => {
    const { Statement } = (roleNamed(name)?.Properties["AssumeRolePolicyDocument"] ?? { Statement: [] }) as {
      Statement: readonly { Condition: { StringEquals: Record<string, unknown> } }[];
    };
    const conditions = Statement[0]?.Condition.StringEquals ?? {};
    expect(conditions["token.actions.githubusercontent.com:aud"]).toBe("sts.amazonaws.com");
    return [name, conditions["token.actions.githubusercontent.com:sub"]];
  });
  expect(subjects).toEqual([
    ["Diff", ["repo:acme/jobs:pull_request"]],
    ["Deploy", ["repo:acme/jobs:environment:small", "repo:acme/jobs:environment:prod"]],
    ["Drift", ["repo:acme/jobs:ref:refs/heads/main"]],
  ]);
});

test("an account that knows GitHub already keeps its one provider", () => {
  const provider = "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com";
  const made = Template.fromStack(new GithubRoles(newApp(), "belfry-github", { repository: "acme/jobs", provider }));
  expect(resources(template, "AWS::IAM::OIDCProvider")).toHaveLength(1);
  expect(resources(made, "AWS::IAM::OIDCProvider")).toHaveLength(0);
  for (const role of resources(made, "AWS::IAM::Role")) expect(JSON.stringify(role)).toContain(provider);
});

test("a pull request can look and not deploy, and no one invokes the API but through its URL", () => {
  expect(policyOf("Diff")).toContain('"iam:ResourceTag/aws-cdk:bootstrap-role":["lookup"]');
  expect(policyOf("Deploy")).toContain('"deploy","file-publishing","image-publishing","lookup"');
  for (const name of ["Diff", "Deploy"]) expect(policyOf(name)).toContain('"lambda:InvokedViaFunctionUrl":"true"');
});

test("what rolls a release of prod back are five alarms that page", () => {
  const text = readFileSync(new URL("../../.github/workflows/deploy.yml", import.meta.url), "utf8");
  const names = /for name in ([\w ]+);/.exec(text)?.[1]?.split(" ") ?? [];
  const alarms = resources(templateOf(topology([], stages.prod)), "AWS::CloudWatch::Alarm");
  const paging = names.filter((name) =>
    alarms.some(({ id, Properties }) => {
      const actions = JSON.stringify(Properties["AlarmActions"]);
      return id.startsWith(`BelfryAlarms${name}`) && actions.includes("BelfryTopicsPage");
    }),
  );
  expect(paging).toEqual(names);
  expect(names).toHaveLength(5);
});

test("no install script runs in a job that can get a token, and every deployment waits for the checks", () => {
  const text = readFileSync(new URL("../../.github/workflows/deploy.yml", import.meta.url), "utf8");
  const jobs = Object.fromEntries(text.split(/^ {2}(?=\w+:$)/m).map((job) => [job.split(":")[0] ?? "", job]));
  for (const name of ["diff", "small", "prod"]) {
    expect(jobs[name]).toContain("id-token: write");
    expect(jobs[name]).toContain("npm ci --ignore-scripts");
    expect(jobs[name]).toMatch(name === "prod" ? /needs: small/ : /needs: check/);
  }
  expect(jobs["check"]).not.toContain("id-token");
});

import { expect, test } from "vitest";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { stages } from "../support/own-project.ts";
import { topology } from "../../src/stage/topology.ts";
import { resources, templateOf } from "./synthesize.ts";

/** With a job on Fargate, so that every role there can be is here. */
const app = defineApp({
  name: "a",
  jobs: [defineJob({ id: "long", runOn: "fargate", concurrency: 2, run: () => {} })],
});
const template = templateOf(topology([app], stages.prod), { scheduler: "each-minute" });

/** What each role may do, a role a paragraph: a change of rights is a change of this file, and is read in review. */
function rights(): string {
  return resources(template, "AWS::IAM::Policy")
    .map(({ Properties }) => {
      const roles = (Properties["Roles"] as { Ref: string }[]).map(({ Ref }) => nameOf(Ref)).join(", ");
      const { Statement } = Properties["PolicyDocument"] as { Statement: readonly StatementText[] };
      return [roles, ...Statement.map(lineOf)].join("\n  ");
    })
    .toSorted()
    .join("\n\n");
}

interface StatementText {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

interface Trust {
  readonly Principal: unknown;
  readonly Condition?: unknown;
}

const lineOf = ({ Effect, Action, Resource, Condition }: StatementText): string => {
  const on = [Resource].flat().map(shown).join(" ");
  return `${Effect.toLowerCase()} ${[Action].flat().join(" ")} on ${on}${whenOf(Condition)}`;
};

const whenOf = (condition: unknown): string => (condition === undefined ? "" : ` when ${shown(condition)}`);

const shown = (value: unknown): string => (typeof value === "string" ? value : nameOf(JSON.stringify(value)));

/** Logical ids without the hash that CDK puts behind them. */
const nameOf = (text: string): string => text.replaceAll(/\b([A-Za-z]+?)[0-9A-F]{8}\b/g, "$1");

test("every role may do what is written in policies.txt, and nothing else", async () => {
  await expect(`${rights()}\n`).toMatchFileSnapshot("policies.txt");
});

test("every role may be taken by whom trust.txt names, and by no other", async () => {
  const lines = resources(template, "AWS::IAM::Role").map(({ id, Properties }) => {
    const { Statement } = Properties["AssumeRolePolicyDocument"] as { Statement: readonly Trust[] };
    const trusted = Statement.map(({ Principal, Condition }) => shown(Principal) + whenOf(Condition));
    return [nameOf(id), ...trusted].join("\n  ");
  });
  await expect(`${lines.toSorted().join("\n\n")}\n`).toMatchFileSnapshot("trust.txt");
});

test("the migration alone connects as the owner of the tables, every other process as a role that has rows only", () => {
  const users = (type: string): readonly string[] =>
    resources(template, type).flatMap(({ id, Properties }) =>
      [.../postgresql:\/\/(\w+)@/g[Symbol.matchAll](JSON.stringify(Properties))].map(
        ([, user]) => `${nameOf(id)} ${user}`,
      ),
    );
  const all = ["AWS::Lambda::Function", "AWS::ECS::TaskDefinition"].flatMap(users);
  const others = all.filter((line) => !line.endsWith(" belfry_app"));
  expect(all.length).toBeGreaterThan(5);
  expect(others).toEqual([
    "BelfryHttpApiFunction belfry_api",
    "BelfryMigrationMigrateFunction belfry_owner",
    "BelfryMigrationMigrateFunction belfry_admin",
  ]);
});

test("no own role has a policy that AWS manages, but the library's own function and the task's launch", () => {
  const managed = resources(template, "AWS::IAM::Role").filter(
    ({ Properties }) => Properties["ManagedPolicyArns"] !== undefined,
  );
  expect(managed.map(({ id }) => nameOf(id))).toEqual(["BelfryMigrationProviderframeworkonEventServiceRole"]);
});

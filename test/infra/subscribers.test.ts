import { stages } from "../support/own-project.ts";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { topology } from "../../src/stage/topology.ts";
import { deploymentOf } from "../../infra/stages.ts";
import { newApp, resources, stackOf } from "./synthesize.ts";

const all = topology([], stages.prod);

test("a protected deployment whose alarms reach no one is refused with what to set", () => {
  const bare = { subscribers: [], terminationProtection: true };
  expect(() => stackOf(newApp(), all, bare)).toThrow(/its alarms reach no one: add subscribers/);
  expect(() => stackOf(newApp(), all, { ...bare, terminationProtection: false })).not.toThrow();
});

test("one that leaves it open is made, and each synthesis warns of it until a reason is given", () => {
  const warnings = (subscribers: { readonly subscribers?: { readonly acknowledged: string } }) =>
    Annotations.fromStack(stackOf(newApp(), all, subscribers)).findWarning("*", Match.stringLikeRegexp("reach no one"));
  expect(warnings({})).toHaveLength(1);
  expect(warnings({ subscribers: { acknowledged: "the team reads a wall" } })).toHaveLength(0);
});

test("the stages that people rely on say nothing yet, so that protecting one asks who gets the alarms", () => {
  for (const stage of ["small", "prod"]) expect(deploymentOf(stage).subscribers).toBeUndefined();
});

test("each subscriber gets pages and warnings", () => {
  const subscribers = ["ops@example.com", "https://example.com/alarm"];
  const template = Template.fromStack(stackOf(newApp(), all, { subscribers }));
  const made = resources(template, "AWS::SNS::Subscription").map(({ Properties }) => Properties);
  expect(made.map(({ Protocol, Endpoint }) => `${String(Protocol)} ${String(Endpoint)}`).toSorted()).toEqual([
    "email ops@example.com",
    "email ops@example.com",
    "https https://example.com/alarm",
    "https https://example.com/alarm",
  ]);
  expect(() => stackOf(newApp(), all, { subscribers: ["ops"] })).toThrow('subscriber "ops" must be a mail address');
});

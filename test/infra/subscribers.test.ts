import { stages } from "../support/own-project.ts";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { topology } from "../../src/topology.ts";
import { newApp, resources, stackOf } from "./synthesize.ts";

const all = topology([], stages.prod);

test("a protected deployment that tells no one of its alarms is refused with what to set", () => {
  const bare = { subscribers: [], terminationProtection: true };
  expect(() => stackOf(newApp(), all, bare)).toThrow(/its alarms reach no one: add subscribers/);
  expect(() => stackOf(newApp(), all, { ...bare, terminationProtection: false })).not.toThrow();
});

test("a protected deployment that names no operators is refused, and an empty list is a name", () => {
  const protectedOne = { subscribers: ["ops@example.com"], terminationProtection: true };
  expect(() => stackOf(newApp(), all, protectedOne)).toThrow(/every signed caller may change things: add operators/);
  for (const operators of [[], ["arn:aws:sts::*:assumed-role/Operators/*"]]) {
    const named = topology([], { ...stages.prod, operators });
    expect(() => stackOf(newApp(), named, protectedOne)).not.toThrow();
  }
});

test("one that says why there are none is made, and each synthesis warns of it", () => {
  const stack = stackOf(newApp(), all, { subscribers: { acknowledged: "the team reads a wall" } });
  const warned = Annotations.fromStack(stack).findWarning("*", Match.stringLikeRegexp("reach no one: the team reads"));
  expect(warned).toHaveLength(1);
});

test("each subscriber is told of pages and of warnings", () => {
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

import { stages } from "../support/own-project.ts";
import { Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { SlackChannelConfiguration } from "aws-cdk-lib/aws-chatbot";
import { expect, test } from "vitest";
import { topology } from "../../src/stage/topology.ts";
import type { Belfry } from "../../infra/constructs/belfry.ts";
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

test("chat services subscribe to the topics of the construct", () => {
  const connect = ({ topics }: Belfry): void => {
    const notificationTopics = [topics.page, topics.warn];
    new SlackChannelConfiguration(Stack.of(topics.page), "Slack", {
      slackChannelConfigurationName: "belfry",
      slackWorkspaceId: "T0123456789",
      slackChannelId: "C0123456789",
      notificationTopics,
    });
  };
  const template = Template.fromStack(stackOf(newApp(), all, { subscribers: ["ops@example.com"], connect }));
  const [slack] = resources(template, "AWS::Chatbot::SlackChannelConfiguration");
  expect(slack?.Properties["SnsTopicArns"]).toEqual(
    ["Page", "Warn"].map((name) => ({ Ref: expect.stringContaining(`Topics${name}`) })),
  );
});

test("the topic of warnings hears of the budget of the account, and AWS Budgets may publish to it", () => {
  const template = Template.fromStack(
    stackOf(newApp(), all, { subscribers: ["ops@example.com"], monthlyBudgetUsd: 80 }),
  );
  const warn = { Ref: Match.stringLikeRegexp("TopicsWarn") };
  const heard = (NotificationType: string) => ({
    Notification: { NotificationType, ComparisonOperator: "GREATER_THAN", Threshold: 100 },
    Subscribers: [{ SubscriptionType: "SNS", Address: warn }],
  });
  template.hasResource("AWS::Budgets::Budget", {
    DependsOn: [Match.stringLikeRegexp("TopicsWarnPolicy")],
    Properties: {
      Budget: { BudgetLimit: { Amount: 80, Unit: "USD" }, BudgetType: "COST", TimeUnit: "MONTHLY" },
      NotificationsWithSubscribers: [heard("ACTUAL"), heard("FORECASTED")],
    },
  });
  template.hasResourceProperties("AWS::SNS::TopicPolicy", {
    Topics: [warn],
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Action: "sns:Publish",
          Principal: { Service: Match.arrayWith(["budgets.amazonaws.com"]) },
          Resource: warn,
        }),
      ]),
    },
  });
  expect(() => stackOf(newApp(), all, { monthlyBudgetUsd: 0 })).toThrow("monthlyBudgetUsd 0 must be a number above 0");
});

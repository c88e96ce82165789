import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { letPublish } from "./alarm-topics.ts";

/**
 * Sends a notice to a topic once a month when the account has spent `usd`, and once when AWS foresees that it will. Of the account and not of the
 * stack, because a budget of a tag stays at 0 until an administrator activates the tag for billing.
 * https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-sns-policy.html
 * @throws Error where `usd` is not a positive number.
 */
export function addBudget(scope: Construct, topic: ITopic, usd: number): void {
  if (!(usd > 0 && Number.isFinite(usd))) throw new Error(`monthlyBudgetUsd ${usd} must be a number above 0`);
  const added = letPublish("budgets", topic);
  const budget = new CfnBudget(scope, "Budget", {
    budget: { budgetType: "COST", timeUnit: "MONTHLY", budgetLimit: { amount: usd, unit: "USD" } },
    notificationsWithSubscribers: (["ACTUAL", "FORECASTED"] as const).map((notificationType) => ({
      notification: { notificationType, comparisonOperator: "GREATER_THAN", threshold: 100 },
      subscribers: [{ subscriptionType: "SNS", address: topic.topicArn }],
    })),
  });
  // AWS tries the topic when the budget is made.
  if (added.policyDependable !== undefined) budget.node.addDependency(added.policyDependable);
}

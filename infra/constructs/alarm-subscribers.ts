import { Annotations } from "aws-cdk-lib";
import { SubscriptionProtocol } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import type { Topics } from "./alarm-topics.ts";

/** Subscribers of both alarm topics: mail and `https` addresses. Or the reason why the deployment has none. @beta */
export type Subscribers = readonly string[] | { readonly acknowledged: string };

/**
 * Alarms that reach no one look like a healthy system, so each synthesis without subscribers warns.
 * @throws Error where a subscriber is neither a mail address nor an `https` address.
 */
export function subscribe(scope: Construct, topics: Topics, subscribers: Subscribers = []): void {
  if ("acknowledged" in subscribers) return;
  if (subscribers.length === 0) {
    const text = `alarms reach no one: set subscribers, or subscribe to the topics of the outputs`;
    Annotations.of(scope).addWarningV2("belfry:unheard-alarms", text);
  }
  for (const endpoint of subscribers) {
    for (const topic of [topics.page, topics.warn]) {
      const suffix = endpoint.replaceAll(/\W+/g, "-");
      topic.addSubscription({ bind: () => ({ subscriberId: suffix, protocol: protocolOf(endpoint), endpoint }) });
    }
  }
}

function protocolOf(endpoint: string): SubscriptionProtocol {
  if (endpoint.startsWith("https://")) return SubscriptionProtocol.HTTPS;
  if (/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(endpoint)) return SubscriptionProtocol.EMAIL;
  throw new Error(
    `subscriber ${JSON.stringify(endpoint)} must be a mail address or an address that begins with https://`,
  );
}

/**
 * A protected deployment must name its subscribers.
 * @throws Error naming what to set.
 */
export function requireSubscribers(stage: string, isProtected: boolean, subscribers: Subscribers | undefined): void {
  const isSettled = subscribers !== undefined && ("acknowledged" in subscribers || subscribers.length > 0);
  if (!isProtected || isSettled) return;
  throw new Error(
    `stage "${stage}" has termination protection and its alarms reach no one: add subscribers: ["ops@example.com"] in ` +
      `its props, pass -c subscriber=ops@example.com, or say why there are none: subscribers: { acknowledged: "..." }`,
  );
}

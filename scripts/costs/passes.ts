import { ofType } from "../../infra/checks/template.ts";
import { deploymentOf } from "../../infra/stages.ts";
import { configItemsATask } from "../../src/cli/config-recording.ts";
import { metricUses } from "./jobs.ts";
import { prices, usdOf } from "../../src/insight/prices.ts";
import { idleUses, taskStarts } from "./resources.ts";
import { synthesized } from "./template.ts";

/** One way to make the passes of a stage. */
export interface Way {
  readonly scheduler: "each-minute" | "service";
  readonly isSpot: boolean;
  /** Whether it is the stage's own. */
  readonly isOwn: boolean;
  /** Of the idle stage, a month. */
  readonly usd: number;
  /** What AWS Config adds to it where it records network interfaces. */
  readonly configUsd: number;
}

const itemsUsd = (tasks: number): number => tasks * configItemsATask * prices["AWS Config, item"].usd;

export async function waysOf(stage: string): Promise<readonly Way[]> {
  const own = deploymentOf(stage);
  const kinds = ["each-minute", "service"] as const;
  const ways = kinds.flatMap((scheduler) => [false, true].map((isSpot) => ({ scheduler, isSpot })));
  return Promise.all(
    ways.map(async ({ scheduler, isSpot }) => {
      const { template, topology } = await synthesized(stage, { scheduler, spotPasses: isSpot });
      const started = ofType(template, "AWS::Events::Rule").reduce((sum, rule) => sum + taskStarts(rule, template), 0);
      const tasks = started + ofType(template, "AWS::ECS::Service").length;
      const isOwn = scheduler === (own.scheduler ?? "each-minute") && isSpot === (own.spotPasses ?? false);
      return {
        scheduler,
        isSpot,
        isOwn,
        usd: usdOf([...idleUses(template), metricUses(topology, "always")]),
        configUsd: itemsUsd(tasks),
      };
    }),
  );
}

/** What each way to make the passes costs, and what AWS Config makes of it. */
export async function schedulerPart(stages: readonly string[]): Promise<string> {
  const all = await Promise.all(stages.map(async (name) => [name, await waysOf(name)] as const));
  const rows = all.flatMap(([name, ways]) =>
    ways.map(({ scheduler, isSpot, isOwn, usd, configUsd }) => {
      const way = `\`${name}\`, ${scheduler === "service" ? "a service" : "a task each minute"}, ${isSpot ? "on spare capacity" : "on demand"}`;
      return `| ${isOwn ? `**${way}**` : way} | ${usd.toFixed(2)} | ${(usd + configUsd).toFixed(2)} |`;
    }),
  );
  return `## Who makes the passes

A month of the idle stage by the way its passes are made, in bold as it is deployed; and the same where AWS Config records all types continuously, as
Control Tower sets it up in every account. A task makes a network interface and deletes it, which are ${configItemsATask} configuration items at least.

| | USD | with AWS Config |
|---|---|---|
${rows.join("\n")}

\`scheduler: "each-minute"\` is the construct's default: a crash, a lost task and a new release are over with the next minute. \`"service"\` is one task that
stays: it has no starts to pay for, its next release begins before the last one ends, and ECS replaces it at its own pace when it dies. It is cheaper in
both columns, so \`small\` and \`prod\` have it; \`dev\` and \`smoke\` keep the rules, which \`smoke:aws\` tries. Two at once do no harm: the lock lets one work.

On spare capacity (\`spotPasses\`) Fargate may refuse or interrupt a task, and may be away for hours: for that one task each 5 minutes is on demand, each
10 beside a service. The price changes by the day and is taken for 40 % of the other, where AWS says "up to 70 % off". \`prod\` does without. With AWS
Config \`small\` is cheapest on demand. A function each minute would cost least and hand jobs to their queues up to a minute late; it is not built.
EventBridge Scheduler in place of a rule would cost the same for a wake: nothing.

1,000 jobs on Fargate are ${itemsUsd(1_000).toFixed(2)} more with AWS Config. \`doctor --stage\` asks how your account records and warns with the sum of its scheduler. Exclude
\`AWS::EC2::NetworkInterface\` from the recorder, or record that type daily, which keeps the last state of 24 hours only.

\`small\` has a \`db.t4g.small\`: sign-in by IAM [needs 300 to 1,000 MiB](https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.html) beside everything else, which a \`db.t4g.micro\` of 1 GiB does not have. That is ${(730 * 0.016).toFixed(2)} a month.
`;
}

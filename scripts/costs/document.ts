import { ofType } from "../../infra/checks/template.ts";
import { jobTaskSize } from "../../src/define/task-size.ts";
import { archiveCosts, archived } from "./archive.ts";
import { schedulerPart } from "./passes.ts";
import { kindPart } from "./kinds.ts";
import { jobUses, type Load, loads, metricUses, taskUses } from "./jobs.ts";
import { assumptions, hoursAMonth, prices, region, type Use, usdOf } from "../../src/insight/prices.ts";
import { idleUses } from "./resources.ts";
import { type Synthesized, synthesized } from "./template.ts";
import { useCases } from "./use-cases.ts";

const stages = ["small", "prod"] as const;

/** The text of docs/costs.md. @throws Error where a resource of a stage has no price. */
export async function costs(): Promise<string> {
  const all = await Promise.all(stages.map(async (name) => [name, await synthesized(name)] as const));
  const parts = all.map(([name, stage]) => stagePart(name, stage));
  return `# What it costs

<!-- Written by \`node scripts/costs.ts\` from the synthesized templates and src/insight/prices.ts; a test compares them. -->

List prices of ${region} in USD, before free tiers, discounts and taxes; a month has 730 hours. They are estimates from public price
lists: nothing here was compared with a bill, and no program read AWS's own list. Each price has the day it was last gone over and the
page to compare it with.

${parts.join("\n")}
${await schedulerPart(stages)}
${kindPart((await synthesized("prod")).topology)}
${fargatePart()}
${archivePart()}
## What a kind, a schedule or a customer costs

\`belfry costs\` says it of your own jobs, by these prices and what each attempt used: [costs](guides/costs.md).

## What the million assumes

A job succeeds at its first try. Its handler takes 50 ms on Lambda (an invocation ${assumptions.invocationMs} ms) and calls nothing that is paid for. ${assumptions.logBytesAJob} bytes of log a job
and ${assumptions.logBytesAnInvocation} an invocation. "Ten a batch" is how jobs come that are due together; "one at a time" is a job now and then.

## What is not in it

What handlers do and call; data between zones and out of AWS; requests of the API, but for those of an open tab that looks at the events
every 3 s (taken for 50 ms each); backups above the size of the disk; snapshots; CPU credits of a T4g instance that is busy for hours; the
image in its registry, and starting it from a registry that is not reached through S3 (through a NAT gateway each start would pay for the
whole image); a dashboard beyond the three that an account has for nothing; mails of the topics; metrics of faults, which are paid by the
hour they last.

## Prices

| | USD | per | checked on | compare with |
|---|---|---|---|---|
${Object.entries(prices)
  .map(([name, { usd, per, checkedOn, source }]) => `| ${name} | ${usd} | ${per} | ${checkedOn} | <${source}> |`)
  .join("\n")}
`;
}

function fargatePart(): string {
  const { cpu, memoryMb } = jobTaskSize;
  const rows = [
    ["1 task of a second (billed as a minute)", 1],
    ["1,000 tasks of a second", 1_000],
    ["1,000 tasks of ten minutes", 10_000],
    ["1 task of an hour", 60],
    ["1 task that never ends, a month", hoursAMonth * 60],
  ] as const;
  return `## Jobs on Fargate

A task of the default size (${cpu / 1_024} vCPU, ${memoryMb / 1_024} GB, ARM) costs, beside the job's messages and the worker's launch of it, which are
as above; its disk of 20 GB is included. In a stage whose network is \`small\` each task has a public address while it runs, at ${prices["public IPv4 address"].usd} an hour.

| | USD |
|---|---|
${rows.map(([what, minutes]) => `| ${what} | ${usdOf(taskUses(minutes / 60, jobTaskSize, what)).toFixed(4)} |`).join("\n")}

A stage with such jobs has alarms of its own for them: ${money(5 * prices["CloudWatch alarm, metric"].usd)} a month, for any number of lanes.
`;
}

function archivePart(): string {
  return `## An archive

The [archive](retention.md#an-archive) of a million jobs with small payloads: at most ${archived.objects.toLocaleString("en")} objects with their events and moves, and ${archived.bytesAJob} bytes a job as
they are stored. Reading is not in it. Objects below 128 KB, as 1,000 such jobs are, stay where they are: by default a rule like \`coldAfterDays\` moves none.

| a million jobs | USD |
|---|---|
${archiveCosts()
  .map(([what, usd]) => `| ${what} | ${usd.toFixed(4)} |`)
  .join("\n")}
`;
}

function stagePart(stage: string, { template, topology }: Synthesized): string {
  const idle = [...idleUses(template), metricUses(topology, "always")];
  const busy = metricUses(topology, "busy");
  const hasGateway = ofType(template, "AWS::EC2::NatGateway").length > 0;
  const memoryMb = Math.max(...topology.lanes.map((lane) => lane.memoryMb));
  const million = loads.map((load) => jobUses(load, memoryMb, hasGateway));
  return `## Stage \`${stage}\`

| a month without jobs | USD |
|---|---|
${lines(idle)}
| **together** | **${money(usdOf(idle))}** |

While jobs run, ${busy.amount} metrics more: ${money(usdOf([busy]))} a month. On top, a million jobs:

| | ${loads.map(({ name }: Load) => name).join(" | ")} |
|---|${loads.map(() => "---|").join("")}
${(million[0] ?? []).map(({ what }, k) => `| ${what} | ${cells(million, k)} |`).join("\n")}
| **together** | ${million.map((uses) => `**${money(usdOf(uses))}**`).join(" | ")} |

| in a month | on top | with the idle stage |
|---|---|---|
${useCases(topology, hasGateway)
  .map(([what, usd]) => `| ${what} | ${money(usd)} | ${money(usd + usdOf(idle))} |`)
  .join("\n")}
`;
}

const cells = (million: readonly (readonly Use[])[], index: number): string =>
  million.map((uses) => money(usdOf(uses.slice(index, index + 1)))).join(" | ");

/** One line for all that is said with the same words, the dearest first. */
function lines(uses: readonly Use[]): string {
  const sums = new Map<string, number>();
  for (const use of uses) sums.set(use.what, (sums.get(use.what) ?? 0) + usdOf([use]));
  return [...sums]
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([what, usd]) => `| ${what} | ${money(usd)} |`)
    .join("\n");
}

const money = (usd: number): string => usd.toFixed(2);

import type { Aws } from "../../src/aws/aws-call.ts";
import {
  assumptions,
  million,
  region as pricedRegion,
  use,
  type Use,
  usdOf,
  workUses,
} from "../../src/insight/prices.ts";

/** Of the API's function, and what one request of it is assumed to take. */
const apiMemoryMb = 512;
const apiMs = 50;

export interface Bill {
  readonly uses: readonly Use[];
  readonly usd: number;
}

/** By list prices of one region and the assumptions of docs/costs.md; what the stage costs idle is not in it. */
export function billOf({ jobs, calls, memoryMb }: { jobs: number; calls: number; memoryMb: number }): Bill {
  const gbSeconds = (ms: number, mb: number): number => (ms * mb) / 1_000 / 1_024;
  const ofJobs = workUses({
    attempts: jobs,
    calls: jobs,
    gbSeconds: gbSeconds(jobs * assumptions.invocationMs, memoryMb),
  });
  const ofApi = [
    use("Lambda, requests", calls / million, "requests of the API"),
    use("Lambda ARM, duration", gbSeconds(calls * apiMs, apiMemoryMb), "requests of the API"),
  ];
  const uses = [...ofJobs, ...ofApi];
  return { uses, usd: usdOf(uses) };
}

export const billText = ({ uses, usd }: Bill): string =>
  [
    `by list prices of ${pricedRegion}, without what the stage costs idle:`,
    ...uses.map((use) => `  ${use.of}, ${use.what}: ${usdOf([use]).toFixed(6)} USD`),
    `  in all: ${usd.toFixed(6)} USD`,
  ].join("\n");

/** What the account was charged on a day for the stage, by its tag. Each question costs 0.01 USD, and a day is complete only a day later. */
export async function charged(inUsEast1: Pick<Aws, "json">, stage: string, day: string): Promise<string> {
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
  const answer = await inUsEast1.json<Answer>("ce", "AWSInsightsIndexService.GetCostAndUsage", {
    TimePeriod: { Start: day, End: next },
    Granularity: "DAILY",
    Metrics: ["UnblendedCost"],
    Filter: { Tags: { Key: "belfry:stage", Values: [stage] } },
    GroupBy: [{ Type: "DIMENSION", Key: "SERVICE" }],
  });
  const groups = answer.ResultsByTime.flatMap(({ Groups }) => Groups);
  if (groups.length === 0)
    return `${day}: nothing is charged to the tag belfry:stage=${stage}; activate it as a cost allocation tag, and wait a day`;
  const lines = groups.map(({ Keys, Metrics }) => `  ${Keys.join(", ")}: ${Metrics.UnblendedCost.Amount} USD`);
  return [`${day}, as charged to belfry:stage=${stage}, idle costs included:`, ...lines].join("\n");
}

interface Answer {
  readonly ResultsByTime: readonly {
    readonly Groups: readonly {
      readonly Keys: readonly string[];
      readonly Metrics: { readonly UnblendedCost: { readonly Amount: string } };
    }[];
  }[];
}

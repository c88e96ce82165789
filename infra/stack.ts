import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Topology } from "../src/topology.ts";
import { requireSubscribers } from "./constructs/alarm-subscribers.ts";
import { Belfry, type BelfryProps } from "./constructs/belfry.ts";
import type { Deployment } from "./stages.ts";

export interface BelfryStackProps extends StackProps {
  readonly belfry: BelfryProps;
}

/** One stage, alone in its stack. A team with a stack of its own puts `Belfry` into that. */
export class BelfryStack extends Stack {
  constructor(scope: Construct, id: string, { belfry, ...props }: BelfryStackProps) {
    super(scope, id, { description: `Belfry, stage ${belfry.topology.stage}`, ...props });
    new Belfry(this, "Belfry", belfry);
  }
}

/** The stack of a stage, named by it. */
export function addStage(
  scope: Construct,
  topology: Topology,
  { env, terminationProtection, tags, network, database, alarms, subscribers, spotPasses = false }: Deployment,
  release: Pick<BelfryProps, "code" | "image" | "fakes">,
): BelfryStack {
  requireSubscribers(topology.stage, terminationProtection, subscribers);
  requireOperators(topology, terminationProtection);
  return new BelfryStack(scope, `belfry-${topology.stage}`, {
    terminationProtection,
    ...(env === undefined ? {} : { env }),
    belfry: {
      topology,
      network,
      database,
      alarms,
      spotPasses,
      tags,
      ...(subscribers === undefined ? {} : { subscribers }),
      ...release,
    },
  });
}

/**
 * A deployment that is protected because people rely on it has to say who may change things.
 * @throws Error naming what to set.
 */
function requireOperators({ stage, namesOperators }: Topology, isProtected: boolean): void {
  if (!isProtected || namesOperators) return;
  throw new Error(
    `stage "${stage}" has termination protection and every signed caller may change things: add operators: ` +
      `["arn:aws:sts::*:assumed-role/Operators/*"] to it in belfry.config.ts; [] lets no one`,
  );
}

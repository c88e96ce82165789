import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { Belfry, type BelfryProps } from "./constructs/belfry.ts";

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

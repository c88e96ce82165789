import { Stack } from "aws-cdk-lib";
import type { Code, Function } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { Topology } from "../../src/stage/topology.ts";
import type { Lane } from "./lane.ts";
import { addQueueSource } from "./queue.ts";
import { type FunctionShare, VpcFunction } from "./vpc-function.ts";

export interface DeadLetterDrainProps {
  readonly lanes: readonly Lane[];
  readonly topology: Topology;
  readonly share: FunctionShare;
  readonly code: Code;
}

/** One function for the dead-letter queues of all lanes: what lands there becomes rows, and is seldom. */
export class DeadLetterDrain extends Construct {
  readonly function: Function;

  constructor(scope: Construct, id: string, { lanes, topology, share, code }: DeadLetterDrainProps) {
    super(scope, id);
    const { batchSize, concurrency, functionTimeoutSeconds } = topology.deadLetters;
    this.function = new VpcFunction(this, "Drain", {
      share,
      code,
      description: "Turns messages that no worker could claim into rows",
      timeoutSeconds: functionTimeoutSeconds,
      memoryMb: 256,
      environment: {
        BELFRY_DEAD_LETTER_LANES: Stack.of(this).toJsonString(
          Object.fromEntries(lanes.map((lane) => [lane.name, lane.deadLetters.queueArn])),
        ),
        BELFRY_POOL_SIZE: String(topology.database.poolPerDrain),
      },
    }).function;
    for (const lane of lanes) {
      addQueueSource(this.function, `Messages-${lane.name}`, {
        queue: lane.deadLetters,
        batchSize,
        windowSeconds: 0,
        concurrency,
      });
    }
  }
}

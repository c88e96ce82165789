import { CfnOutput } from "aws-cdk-lib";
import { type Code, type Function, FunctionUrlAuthType } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { apiDescription } from "../../src/stage/deployed-api.ts";
import type { Topology } from "../../src/stage/topology.ts";
import { type FunctionShare, VpcFunction } from "./vpc-function.ts";

export interface HttpApiProps {
  readonly share: FunctionShare;
  readonly code: Code;
  readonly topology: Topology;
  readonly system: string;
}

const memoryMb = 512;
const timeoutSeconds = 30;

/** The HTTP API behind a function URL that answers only signed requests of callers that IAM lets invoke it. */
export class HttpApi extends Construct {
  readonly function: Function;
  readonly url: string;

  constructor(scope: Construct, id: string, { share, code, topology, system }: HttpApiProps) {
    super(scope, id);
    this.function = new VpcFunction(this, "Api", {
      share,
      code,
      description: "The HTTP API",
      timeoutSeconds,
      memoryMb,
      environment: { BELFRY_POOL_SIZE: String(topology.database.poolPerApi) },
      access: share.database.api,
      ...(topology.api.isReserved ? { reservedConcurrency: topology.api.concurrency } : {}),
    }).function;
    // Answers come whole: AWS says that those of a function in a VPC cannot be streamed, and bills one as long as it is open.
    const url = this.function.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM });
    this.url = url.url;
    new CfnOutput(this, "Url", { value: url.url, description: apiDescription({ system, stage: topology.stage }) });
  }
}

import { CfnDeletionPolicy, CfnResource, Stack, Tags, Token } from "aws-cdk-lib";
import { type IManagedPolicy, PermissionsBoundary } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import type { Topology } from "../../src/stage/topology.ts";
import { checkAtSynthesis } from "../checks/plugin.ts";
import { encryptWith } from "./encryption.ts";

interface Decoration {
  readonly permissionsBoundary?: IManagedPolicy;
  readonly tags?: Readonly<Record<string, string>>;
  readonly encryptionKey?: IKey;
  readonly checks?: boolean;
}

/** What is done to all parts of a stage once they are there. */
export function finish(belfry: Construct, topology: Topology, decoration: Decoration): void {
  if (decoration.encryptionKey !== undefined) encryptWith(belfry, decoration.encryptionKey);
  decorate(belfry, topology, decoration);
  releaseOnFailedCreate(belfry);
  describe(belfry, topology);
  if (decoration.checks !== false) checkAtSynthesis(belfry);
}

/** What the checks of the template cannot read from its resources. */
function describe(belfry: Construct, { database }: Topology): void {
  const stack = Stack.of(belfry);
  const others = stack.templateOptions.metadata?.["Belfry"] as object | undefined;
  stack.addMetadata("Belfry", {
    ...others,
    [belfry.node.path]: {
      MaxConnections: database.maxConnections,
      ApiConnections: database.apiConnections,
      ...(Token.isUnresolved(stack.region) ? {} : { Region: stack.region }),
    },
  });
}

/** What a stack leaves behind when it goes is deleted all the same when the deployment that makes it fails. */
function releaseOnFailedCreate(belfry: Construct): void {
  for (const each of belfry.node.findAll()) {
    if (!(each instanceof CfnResource) || each.cfnOptions.deletionPolicy !== CfnDeletionPolicy.RETAIN) continue;
    each.cfnOptions.deletionPolicy = CfnDeletionPolicy.RETAIN_EXCEPT_ON_CREATE;
  }
}

function decorate(belfry: Construct, { stage }: Topology, { permissionsBoundary, tags = {} }: Decoration): void {
  for (const [name, value] of Object.entries({ "belfry:stage": stage, ...tags })) {
    // CloudFormation documents tags of dashboards, but the registry schema that validators use refuses them.
    Tags.of(belfry).add(name, value, { excludeResourceTypes: ["AWS::CloudWatch::Dashboard"] });
  }
  if (permissionsBoundary !== undefined) PermissionsBoundary.of(belfry).apply(permissionsBoundary);
}

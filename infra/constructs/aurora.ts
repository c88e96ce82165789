import { RemovalPolicy, Validations } from "aws-cdk-lib";
import { CfnDBCluster, CfnDBClusterParameterGroup, type CfnDBClusterProps, CfnDBInstance } from "aws-cdk-lib/aws-rds";
import type { Construct } from "constructs";
import { engineVersions } from "../engines.ts";
import {
  keepWith,
  type Server,
  type ServerPlace,
  type ServerProps,
  serverReasons,
  type ServerSettings,
} from "./rds-database.ts";

/** @beta */
export interface AuroraServerlessProps extends ServerProps {
  /** Capacity units, in steps of a half, of 2 GB each. 0 pauses when idle, which a scheduler that wakes each minute prevents. */
  readonly minCapacity: number;
  readonly maxCapacity: number;
}

/** @beta */
export interface AuroraProps extends ServerProps {
  /** For example `db.r8g.large`. */
  readonly instanceClass: string;
  /** In other zones: what a failover goes to, within a minute. Nothing reads from them. Default 1. */
  readonly readers?: number;
  /** No price for I/O, and a higher one for instances and storage. Default false. */
  readonly ioOptimized?: boolean;
}

/** With the defaults. */
export type AuroraSettings = ServerSettings & (AuroraServerlessProps | AuroraProps);

/** An Aurora cluster: a serverless writer alone, or instances. Whatever decides reads the writer. */
export function makeAurora(scope: Construct, props: AuroraSettings, place: ServerPlace): Server {
  const parameters = new CfnDBClusterParameterGroup(scope, "Parameters", {
    family: "aurora-postgresql17",
    description: "Belfry",
    parameters: place.parameters,
  });
  const cluster = new CfnDBCluster(scope, "Cluster", {
    ...place.shared,
    ...capacityOf(props),
    engine: "aurora-postgresql",
    engineVersion: engineVersions["aurora-postgresql"],
    databaseName: place.databaseName,
    dbClusterParameterGroupName: parameters.ref,
    vpcSecurityGroupIds: place.securityGroups,
  });
  const isServerless = "minCapacity" in props;
  const readers = isServerless ? 0 : (props.readers ?? 1);
  const instances = ["Writer", ...Array.from({ length: readers }, (_, index) => `Reader${index + 1}`)].map(
    (id) =>
      new CfnDBInstance(scope, id, {
        engine: "aurora-postgresql",
        dbClusterIdentifier: cluster.ref,
        dbInstanceClass: isServerless ? "db.serverless" : props.instanceClass,
        publiclyAccessible: false,
        autoMinorVersionUpgrade: true,
      }),
  );
  // The first one in a cluster is its writer.
  for (const reader of instances.slice(1)) if (instances[0] !== undefined) reader.addDependency(instances[0]);
  if (props.onDelete === "keep") keepWith(cluster, ...instances, parameters);
  else cluster.applyRemovalPolicy(RemovalPolicy.SNAPSHOT);
  Validations.of(cluster).acknowledge(...serverReasons(place));
  return {
    host: cluster.attrEndpointAddress,
    resourceId: cluster.attrDbClusterResourceId,
    secretArn: cluster.attrMasterUserSecretSecretArn,
  };
}

function capacityOf(props: AuroraServerlessProps | AuroraProps): Partial<CfnDBClusterProps> {
  if ("minCapacity" in props) {
    const { minCapacity, maxCapacity } = props;
    return { serverlessV2ScalingConfiguration: { minCapacity, maxCapacity } };
  }
  return props.ioOptimized === true ? { storageType: "aurora-iopt1" } : {};
}

import { RemovalPolicy, Validations } from "aws-cdk-lib";
import { CfnDBCluster, CfnDBClusterParameterGroup, CfnDBInstance } from "aws-cdk-lib/aws-rds";
import type { Construct } from "constructs";
import { engineVersions } from "../engines.ts";
import { keepWith, type Server, type ServerPlace, type ServerProps, serverReasons } from "./rds-database.ts";

/** @beta */
export interface AuroraServerlessProps extends ServerProps {
  /** Capacity units of half a gigabyte steps. 0 pauses when idle, which a scheduler that wakes each minute prevents. */
  readonly minCapacity: number;
  readonly maxCapacity: number;
}

/** An Aurora cluster with one serverless writer. Readers are left out: whatever decides reads the writer. */
export function makeAurora(scope: Construct, props: AuroraServerlessProps, place: ServerPlace): Server {
  const { minCapacity, maxCapacity, onDelete } = props;
  const parameters = new CfnDBClusterParameterGroup(scope, "Parameters", {
    family: "aurora-postgresql17",
    description: "Belfry",
    parameters: place.parameters,
  });
  const cluster = new CfnDBCluster(scope, "Cluster", {
    ...place.shared,
    engine: "aurora-postgresql",
    engineVersion: engineVersions["aurora-postgresql"],
    databaseName: place.databaseName,
    serverlessV2ScalingConfiguration: { minCapacity, maxCapacity },
    dbClusterParameterGroupName: parameters.ref,
    vpcSecurityGroupIds: place.securityGroups,
  });
  const writer = new CfnDBInstance(scope, "Writer", {
    engine: "aurora-postgresql",
    dbClusterIdentifier: cluster.ref,
    dbInstanceClass: "db.serverless",
    publiclyAccessible: false,
    autoMinorVersionUpgrade: true,
  });
  if (onDelete === "keep") keepWith(cluster, writer, parameters);
  else cluster.applyRemovalPolicy(RemovalPolicy.SNAPSHOT);
  Validations.of(cluster).acknowledge(...serverReasons(props));
  return {
    host: cluster.attrEndpointAddress,
    resourceId: cluster.attrDbClusterResourceId,
    secretArn: cluster.attrMasterUserSecretSecretArn,
  };
}

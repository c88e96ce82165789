import { RemovalPolicy } from "aws-cdk-lib";
import type { ISecurityGroup } from "aws-cdk-lib/aws-ec2";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import { CfnDBCluster, CfnDBInstance, CfnDBSubnetGroup } from "aws-cdk-lib/aws-rds";
import { Construct } from "constructs";
import {
  accessGroups,
  administrationBy,
  administrator,
  databaseName,
  databasePort,
  databaseUser,
  grantIamConnect,
} from "./database-access.ts";
import type { AuroraServerlessProps, Database, DatabaseAdministration } from "./database.ts";
import type { Network } from "./network.ts";

type Props = AuroraServerlessProps & { readonly network: Network };

/** An Aurora cluster with one serverless writer. Readers are left out: whatever decides reads the writer. */
export class AuroraServerless extends Construct implements Database {
  readonly clients: ISecurityGroup;
  readonly environment: Readonly<Record<string, string>>;
  readonly verifyCertificate = true;
  readonly administration: DatabaseAdministration;
  readonly metricDimensions: Readonly<Record<string, string>>;
  readonly #cluster: CfnDBCluster;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const groups = accessGroups(this, props.network.vpc);
    this.clients = groups.clients;
    this.#cluster = cluster(this, props, groups.server.securityGroupId);
    const writer = new CfnDBInstance(this, "Writer", {
      engine: "aurora-postgresql",
      dbClusterIdentifier: this.#cluster.ref,
      dbInstanceClass: "db.serverless",
      publiclyAccessible: false,
      autoMinorVersionUpgrade: true,
    });
    const policy = props.deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.SNAPSHOT;
    this.#cluster.applyRemovalPolicy(policy);
    writer.applyRemovalPolicy(props.deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY);
    const where = `${this.#cluster.attrEndpointAddress}:${databasePort}/${databaseName}`;
    this.environment = { DATABASE_URL: `postgresql://${databaseUser}@${where}`, BELFRY_DATABASE_AUTH: "iam" };
    const secretArn = this.#cluster.attrMasterUserSecretSecretArn;
    this.administration = administrationBy(this, `postgresql://${administrator}@${where}`, secretArn);
    this.metricDimensions = { DBClusterIdentifier: this.#cluster.ref };
  }

  grantConnect(grantee: IGrantable): void {
    grantIamConnect(this, grantee, this.#cluster.attrDbClusterResourceId);
  }
}

function cluster(scope: Construct, { network, ...props }: Props, serverGroupId: string): CfnDBCluster {
  const subnets = new CfnDBSubnetGroup(scope, "Subnets", {
    dbSubnetGroupDescription: "Belfry",
    subnetIds: network.vpc.selectSubnets(network.data).subnetIds,
  });
  return new CfnDBCluster(scope, "Cluster", {
    engine: "aurora-postgresql",
    engineVersion: "17.4",
    databaseName,
    port: databasePort,
    masterUsername: administrator,
    manageMasterUserPassword: true,
    enableIamDatabaseAuthentication: true,
    serverlessV2ScalingConfiguration: { minCapacity: props.minCapacity, maxCapacity: props.maxCapacity },
    storageEncrypted: true,
    backupRetentionPeriod: props.backupDays,
    deletionProtection: props.deletionProtection,
    copyTagsToSnapshot: true,
    enableCloudwatchLogsExports: ["postgresql"],
    dbSubnetGroupName: subnets.ref,
    vpcSecurityGroupIds: [serverGroupId],
  });
}

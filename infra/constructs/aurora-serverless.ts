import { RemovalPolicy, Validations } from "aws-cdk-lib";
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
import type { Database, DatabaseAdministration } from "./database.ts";
import type { Network } from "./network.ts";

export interface AuroraServerlessProps {
  /** Capacity units of half a gigabyte steps. 0 pauses when idle, which a scheduler that wakes each minute prevents. */
  readonly minCapacity: number;
  readonly maxCapacity: number;
  readonly backupDays: number;
  readonly deletionProtection: boolean;
}

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
    acknowledge(this.#cluster, props);
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

function acknowledge(cluster: CfnDBCluster, { deletionProtection }: AuroraServerlessProps): void {
  const reasons = [
    { id: "AwsSolutions-RDS11", reason: "Only our own processes reach the port: another number would hide nothing." },
    ...(deletionProtection
      ? []
      : [{ id: "AwsSolutions-RDS10", reason: "This stage may be destroyed; a snapshot stays." }]),
  ];
  Validations.of(cluster).acknowledge(...reasons);
}

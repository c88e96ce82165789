import { RemovalPolicy, Validations } from "aws-cdk-lib";
import type { ISecurityGroup } from "aws-cdk-lib/aws-ec2";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import { CfnDBInstance, CfnDBParameterGroup, CfnDBSubnetGroup } from "aws-cdk-lib/aws-rds";
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

export interface RdsInstanceProps {
  /** For example `db.t4g.micro`; `max_connections` follows from it. */
  readonly instanceClass: string;
  readonly storageGb: number;
  readonly multiAz: boolean;
  /** Days that backups, and with them any second in between, are kept. */
  readonly backupDays: number;
  readonly deletionProtection: boolean;
}

type Props = RdsInstanceProps & { readonly network: Network; readonly maxConnections: number };

/**
 * A Postgres 17 on RDS: encrypted, in subnets without a way out, TLS required, users proven by IAM. What IAM replaces
 * is the password of the application; the administrator's is made, kept and rotated by RDS.
 */
export class RdsInstance extends Construct implements Database {
  readonly clients: ISecurityGroup;
  readonly environment: Readonly<Record<string, string>>;
  readonly verifyCertificate = true;
  readonly administration: DatabaseAdministration;
  readonly metricDimensions: Readonly<Record<string, string>>;
  readonly #instance: CfnDBInstance;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const groups = accessGroups(this, props.network.vpc);
    this.clients = groups.clients;
    this.#instance = instance(this, props, groups.server.securityGroupId);
    acknowledge(this.#instance, props);
    this.#instance.applyRemovalPolicy(props.deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.SNAPSHOT);
    const { attrEndpointAddress: host, attrMasterUserSecretSecretArn: secretArn } = this.#instance;
    const where = `${host}:${databasePort}/${databaseName}`;
    this.environment = { DATABASE_URL: `postgresql://${databaseUser}@${where}`, BELFRY_DATABASE_AUTH: "iam" };
    this.administration = administrationBy(this, `postgresql://${administrator}@${where}`, secretArn);
    this.metricDimensions = { DBInstanceIdentifier: this.#instance.ref };
  }

  grantConnect(grantee: IGrantable): void {
    grantIamConnect(this, grantee, this.#instance.attrDbiResourceId);
  }
}

function instance(
  scope: Construct,
  { network, maxConnections, ...props }: Props,
  serverGroupId: string,
): CfnDBInstance {
  const subnets = new CfnDBSubnetGroup(scope, "Subnets", {
    dbSubnetGroupDescription: "Belfry",
    subnetIds: network.vpc.selectSubnets(network.data).subnetIds,
  });
  const parameters = new CfnDBParameterGroup(scope, "Parameters", {
    family: "postgres17",
    description: "Belfry",
    // A process that was stopped in a transaction must not keep dead rows from being cleaned for hours.
    parameters: {
      "rds.force_ssl": "1",
      idle_in_transaction_session_timeout: "300000",
      log_lock_waits: "1",
      max_connections: String(maxConnections),
    },
  });
  return new CfnDBInstance(scope, "Instance", {
    engine: "postgres",
    engineVersion: "17.7",
    dbInstanceClass: props.instanceClass,
    dbName: databaseName,
    port: String(databasePort),
    masterUsername: administrator,
    manageMasterUserPassword: true,
    enableIamDatabaseAuthentication: true,
    allocatedStorage: String(props.storageGb),
    storageType: "gp3",
    storageEncrypted: true,
    multiAz: props.multiAz,
    backupRetentionPeriod: props.backupDays,
    deletionProtection: props.deletionProtection,
    copyTagsToSnapshot: true,
    autoMinorVersionUpgrade: true,
    publiclyAccessible: false,
    enableCloudwatchLogsExports: ["postgresql"],
    dbSubnetGroupName: subnets.ref,
    dbParameterGroupName: parameters.ref,
    vpcSecurityGroups: [serverGroupId],
  });
}

function acknowledge(instance: CfnDBInstance, { multiAz, deletionProtection }: RdsInstanceProps): void {
  const reasons = [
    { id: "AwsSolutions-RDS11", reason: "Only our own processes reach the port: another number would hide nothing." },
    ...(multiAz ? [] : [{ id: "AwsSolutions-RDS3", reason: "This stage chose one zone for its price." }]),
    ...(deletionProtection
      ? []
      : [{ id: "AwsSolutions-RDS10", reason: "This stage may be destroyed; a snapshot stays." }]),
  ];
  Validations.of(instance).acknowledge(...reasons);
}

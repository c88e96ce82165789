import { ArnFormat, CfnResource, RemovalPolicy, Stack } from "aws-cdk-lib";
import { type ISecurityGroup, Peer, Port, SecurityGroup } from "aws-cdk-lib/aws-ec2";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import { CfnDBSubnetGroup } from "aws-cdk-lib/aws-rds";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { vacuumSettings } from "../server-settings.ts";
import type { Database, DatabaseAccess } from "./database.ts";
import type { Network } from "./network.ts";
import { type ServerWindows, windowsOf } from "./server-windows.ts";
import { isStackProtected } from "./system.ts";

const databaseName = "belfry";
/** The roles in Postgres of the migration, of processes with handlers and of the API. They prove themselves by IAM and have no password. */
const databaseOwner = "belfry_owner";
const databaseUser = "belfry_app";
const apiUser = "belfry_api";
const administrator = "belfry_admin";
const port = 5432;

/** What is asked of every server that RDS runs for us. @beta */
export interface ServerProps extends ServerWindows {
  /** Days that backups, and with them any second in between, are kept: 1 to 35. Default 7. */
  readonly backupDays?: number;
  /**
   * Default: as the stack's `terminationProtection`. Before its first deployment has succeeded a database must not have it,
   * because it would also refuse the rollback: in a stack that is protected already, begin with false.
   */
  readonly deletionProtection?: boolean;
  /** What stays when the stack goes: the server itself, or its last snapshot. Default `snapshot`. */
  readonly onDelete?: "keep" | "snapshot";
  /**
   * How the administrator comes, who makes the roles the first time. Default `iam`: without a password, and so without a
   * secret to pay for. `secret`: RDS makes a password, keeps it in Secrets Manager and rotates it.
   */
  readonly administrator?: "iam" | "secret";
}

/** With the defaults. */
export type ServerSettings = ServerProps & Required<Pick<ServerProps, "backupDays" | "onDelete">>;

export interface ServerPlace {
  readonly securityGroups: string[];
  readonly databaseName: string;
  /** Properties that an instance and a cluster spell alike. */
  readonly shared: ReturnType<typeof sharedProps>;
  /** Of its parameter group. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A server as RDS made it. */
export interface Server {
  /** Of the writer. */
  readonly host: string;
  /** Its own id, not its name: IAM names it in `rds-db:connect`. */
  readonly resourceId: string;
  /** What RDS made for the administrator and rotates, where the stage chose `secret`. */
  readonly secretArn: string;
}

export interface RdsDatabaseProps {
  readonly network: Network;
  readonly maxConnections: number;
  readonly settings: ServerSettings;
  readonly make: (scope: Construct, place: ServerPlace) => Server;
}

/**
 * A Postgres 17 that RDS runs: encrypted, in subnets without a way out, TLS required, users proven by IAM, the administrator
 * too where the stage does not choose a secret.
 */
export class RdsDatabase extends Construct implements Database {
  readonly clients: ISecurityGroup;
  readonly environment: Readonly<Record<string, string>>;
  readonly verifyCertificate = true;
  readonly administration: DatabaseAccess;
  readonly api: DatabaseAccess;
  readonly #resourceId: string;

  constructor(scope: Construct, id: string, { network, maxConnections, settings, make }: RdsDatabaseProps) {
    super(scope, id);
    const groups = accessGroups(this, network);
    const subnets = new CfnDBSubnetGroup(this, "Subnets", {
      dbSubnetGroupDescription: "Belfry",
      subnetIds: network.vpc.selectSubnets(network.data).subnetIds,
    });
    if (settings.onDelete === "keep") {
      keepWith(subnets);
      for (const each of groups.server.node.findAll()) if (each instanceof CfnResource) keepWith(each);
    }
    const { host, resourceId, secretArn } = make(this, {
      securityGroups: [groups.server.securityGroupId],
      databaseName,
      shared: sharedProps(settings, {
        subnets: subnets.ref,
        isProtected: settings.deletionProtection ?? isStackProtected(this),
      }),
      parameters: parametersFor(maxConnections),
    });
    const where = `${host}:${port}/${databaseName}`;
    this.clients = groups.clients;
    this.environment = { DATABASE_URL: `postgresql://${databaseUser}@${where}`, BELFRY_DATABASE_AUTH: "iam" };
    this.#resourceId = resourceId;
    this.api = {
      environment: { DATABASE_URL: `postgresql://${apiUser}@${where}` },
      grant: (grantee) => this.#grantConnectAs([apiUser], grantee),
    };
    const secret =
      settings.administrator === "secret" ? Secret.fromSecretCompleteArn(this, "Administrator", secretArn) : null;
    this.administration = {
      environment: {
        DATABASE_URL: `postgresql://${databaseOwner}@${where}`,
        BELFRY_ADMIN_DATABASE_URL: `postgresql://${administrator}@${where}`,
        ...(secret === null ? {} : { BELFRY_ADMIN_DATABASE_SECRET: secretArn }),
      },
      grant: (grantee) => {
        secret?.grantRead(grantee);
        this.#grantConnectAs([databaseOwner, administrator], grantee);
      },
    };
  }

  grantConnect(grantee: IGrantable): void {
    this.#grantConnectAs([databaseUser], grantee);
  }

  #grantConnectAs(users: readonly string[], grantee: IGrantable): void {
    const resourceArns = users.map((user) =>
      Stack.of(this).formatArn({
        service: "rds-db",
        resource: "dbuser",
        resourceName: `${this.#resourceId}/${user}`,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      }),
    );
    Grant.addToPrincipal({ grantee, actions: ["rds-db:connect"], resourceArns });
  }
}

/** Only clients may reach the server. They call it and what answers by HTTPS; a stack opens more by `connections`. */
function accessGroups(
  scope: Construct,
  { vpc, isDualStack }: Network,
): { server: SecurityGroup; clients: SecurityGroup } {
  const server = new SecurityGroup(scope, "Server", {
    vpc,
    description: "The database of Belfry",
    allowAllOutbound: false,
  });
  const clients = new SecurityGroup(scope, "Clients", {
    vpc,
    description: "Processes of Belfry",
    allowAllOutbound: false,
  });
  clients.addEgressRule(Peer.anyIpv4(), Port.HTTPS, "AWS, and what handlers call by HTTPS");
  if (isDualStack) clients.addEgressRule(Peer.anyIpv6(), Port.HTTPS, "The same over IPv6");
  server.connections.allowFrom(clients, Port.tcp(port), "Processes of Belfry");
  return { server, clients };
}

const sharedProps = (
  settings: ServerSettings,
  { subnets, isProtected }: { readonly subnets: string; readonly isProtected: boolean },
) => ({
  masterUsername: administrator,
  ...(settings.administrator === "secret"
    ? { manageMasterUserPassword: true }
    : { masterUserAuthenticationType: "iam-db-auth" }),
  enableIamDatabaseAuthentication: true,
  storageEncrypted: true,
  ...windowsOf(settings),
  backupRetentionPeriod: settings.backupDays,
  deletionProtection: isProtected,
  copyTagsToSnapshot: true,
  // The server's log is not exported: RDS would make a group for it that keeps its lines for ever. RDS itself keeps three days.
  dbSubnetGroupName: subnets,
});

/** A server that stays needs what it stands on: its subnet group and the groups of its subnets stay for the same reason. */
export function keepWith(...resources: readonly CfnResource[]): void {
  for (const resource of resources) resource.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
}

const parametersFor = (maxConnections: number): Readonly<Record<string, string>> => ({
  "rds.force_ssl": "1",
  // A process that was stopped in a transaction must not keep dead rows from being cleaned for hours.
  idle_in_transaction_session_timeout: "300000",
  log_lock_waits: "1",
  ...vacuumSettings,
  // What the concurrency of all lanes was checked against.
  max_connections: String(maxConnections),
});

/** Why the server does not follow these rules of cdk-nag. */
export const serverReasons = ({ shared }: ServerPlace) => [
  { id: "AwsSolutions-RDS11", reason: "Only Belfry's processes reach the port: another number would hide nothing." },
  ...(shared.deletionProtection
    ? []
    : [
        { id: "AwsSolutions-RDS10", reason: "Switched on after the first deployment, whose rollback it would refuse." },
      ]),
];

import type { ISecurityGroup } from "aws-cdk-lib/aws-ec2";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import type { Topology } from "../../src/topology.ts";
import { AuroraServerless } from "./aurora-serverless.ts";
import { ExistingDatabase, type ExistingDatabaseProps } from "./existing-database.ts";
import type { Network } from "./network.ts";
import { RdsInstance, type RdsInstanceProps } from "./rds-instance.ts";

/** Which Postgres a deployment has. Belfry is the only user of one that it makes. */
export type DatabaseProps =
  | ({ readonly kind: "instance" } & RdsInstanceProps)
  | ({ readonly kind: "aurora-serverless" } & AuroraServerlessProps)
  | ({ readonly kind: "existing" } & ExistingDatabaseProps);

export interface AuroraServerlessProps {
  /** Capacity units of half a gigabyte steps. 0 pauses when idle, which a scheduler that wakes each minute prevents. */
  readonly minCapacity: number;
  readonly maxCapacity: number;
  readonly backupDays: number;
  readonly deletionProtection: boolean;
}

/** What the other constructs know of a database. */
export interface Database {
  /** Every process of ours runs with it; whoever runs with it may connect. */
  readonly clients: ISecurityGroup;
  /** How a process finds the database and proves itself. Never a password. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether its certificate must be signed by the authorities of RDS. */
  readonly verifyCertificate: boolean;
  grantConnect(grantee: IGrantable): void;
  /** For the migration alone: the user that may create the application's own; null where that is the team's work. */
  readonly administration: DatabaseAdministration | null;
  /** What the alarms on RDS's own metrics are about; null where the database is not ours. */
  readonly metricDimensions: Readonly<Record<string, string>> | null;
}

export interface DatabaseAdministration {
  readonly environment: Readonly<Record<string, string>>;
  grant(grantee: IGrantable): void;
}

export function createDatabase(
  scope: Construct,
  id: string,
  props: { readonly database: DatabaseProps; readonly network: Network; readonly topology: Topology },
): Database {
  const { database, network, topology } = props;
  const { stage } = topology;
  const { maxConnections } = topology.database;
  if (database.kind === "existing") return new ExistingDatabase(scope, id, { ...database, network, stage });
  if (database.kind === "instance") return new RdsInstance(scope, id, { ...database, network, maxConnections });
  return new AuroraServerless(scope, id, { ...database, network });
}

import type { ISecurityGroup } from "aws-cdk-lib/aws-ec2";
import type { IGrantable } from "aws-cdk-lib/aws-iam";

/** What the other constructs know of a database. */
export interface Database {
  /** The group of every Belfry process; its members may connect. */
  readonly clients: ISecurityGroup;
  /** How a process finds the database and proves itself. Never a password. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether its certificate must be signed by the authorities of RDS. */
  readonly verifyCertificate: boolean;
  grantConnect(grantee: IGrantable): void;
  /** The API comes as a role of its own, whose connections are limited; null where the team gives one user for all. */
  readonly api: DatabaseAccess | null;
  /** For the migration alone: the owner of the tables, and who may make the roles; null where that is the team's work. */
  readonly administration: DatabaseAccess | null;
}

export interface DatabaseAccess {
  readonly environment: Readonly<Record<string, string>>;
  grant(grantee: IGrantable): void;
}

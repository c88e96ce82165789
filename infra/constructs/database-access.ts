import { ArnFormat, Stack } from "aws-cdk-lib";
import { type IVpc, Port, SecurityGroup } from "aws-cdk-lib/aws-ec2";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import type { DatabaseAdministration } from "./database.ts";

export const databaseName = "belfry";
/** The role in Postgres that every process of ours is. It proves itself by IAM and has no password. */
export const databaseUser = "belfry_app";
export const administrator = "belfry_admin";
export const databasePort = 5432;

/** Clients may reach the server, nobody else, and neither may call anybody by it. */
export function accessGroups(scope: Construct, vpc: IVpc): { server: SecurityGroup; clients: SecurityGroup } {
  const server = new SecurityGroup(scope, "Server", {
    vpc,
    description: "The database of Belfry",
    allowAllOutbound: false,
  });
  const clients = new SecurityGroup(scope, "Clients", { vpc, description: "Processes of Belfry" });
  server.addIngressRule(clients, Port.tcp(databasePort), "Processes of Belfry");
  return { server, clients };
}

/** `resourceId` is the server's own, not its name: IAM names it in `rds-db:connect`. */
export function grantIamConnect(scope: Construct, grantee: IGrantable, resourceId: string): void {
  const arn = Stack.of(scope).formatArn({
    service: "rds-db",
    resource: "dbuser",
    resourceName: `${resourceId}/${databaseUser}`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  Grant.addToPrincipal({ grantee, actions: ["rds-db:connect"], resourceArns: [arn] });
}

/** The secret that RDS made for the administrator and rotates. */
export const administrationBy = (scope: Construct, url: string, secretArn: string): DatabaseAdministration => ({
  environment: { BELFRY_ADMIN_DATABASE_URL: url, BELFRY_ADMIN_DATABASE_SECRET: secretArn },
  grant(grantee) {
    Secret.fromSecretCompleteArn(scope, "Administrator", secretArn).grantRead(grantee);
  },
});

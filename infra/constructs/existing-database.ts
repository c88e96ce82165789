import { type ISecurityGroup, SecurityGroup } from "aws-cdk-lib/aws-ec2";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import type { DeployedStage } from "../../src/stage/deployed-api.ts";
import type { Database } from "./database.ts";
import { type Network, teamParameter } from "./network.ts";

/** A field that is left out is read from an SSM parameter of the account, so that no account's ids are in the code. @beta */
export interface ExistingDatabaseProps {
  /** Of the writer, without a password: `postgresql://belfry@host:5432/belfry`. Default `/belfry/<system>/<stage>/database-url`. */
  readonly url?: string;
  /** JSON with a field `password`; may be rotated. Default: the ARN in `/belfry/<system>/<stage>/database-secret-arn`. */
  readonly secret?: ISecret;
  /** What may reach the database. Default: the id in `/belfry/<system>/<stage>/client-security-group`. */
  readonly clients?: ISecurityGroup;
  /** False only where the server has no certificate that the RDS authorities signed. Default true. */
  readonly verifyCertificate?: boolean;
}

/** The team's own database, by reference: this construct never creates, changes or deletes it. */
export class ExistingDatabase extends Construct implements Database {
  readonly clients: ISecurityGroup;
  readonly environment: Readonly<Record<string, string>>;
  readonly administration = null;
  readonly api = null;
  readonly verifyCertificate: boolean;
  readonly #secret: ISecret;

  constructor(
    scope: Construct,
    id: string,
    props: ExistingDatabaseProps & DeployedStage & { readonly network: Network },
  ) {
    super(scope, id);
    this.verifyCertificate = props.verifyCertificate ?? true;
    const parameter = (name: string, type: string): string => teamParameter(this, props, name, type);
    this.#secret =
      props.secret ?? Secret.fromSecretCompleteArn(this, "Secret", parameter("database-secret-arn", "String"));
    this.clients =
      props.clients ??
      SecurityGroup.fromSecurityGroupId(
        this,
        "Clients",
        parameter("client-security-group", "AWS::EC2::SecurityGroup::Id"),
        { mutable: false },
      );
    this.environment = {
      DATABASE_URL: props.url ?? parameter("database-url", "String"),
      BELFRY_DATABASE_SECRET: this.#secret.secretArn,
    };
  }

  grantConnect(grantee: IGrantable): void {
    this.#secret.grantRead(grantee);
  }
}

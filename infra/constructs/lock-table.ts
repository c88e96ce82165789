import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, Billing, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Effect, type IGrantable, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { grantUse } from "./encryption.ts";

/** The locks of the scheduler and of schedules begin so; no handler may take one of them. */
const ownLocks = "belfry:*";

/**
 * The table of named locks. No time to live: an item that vanished would let a fence start again from 1.
 * Nothing deletes items either, so no role gets the permission.
 */
export class LockTable extends Construct {
  readonly table: TableV2;

  readonly #key: IKey | undefined;

  constructor(scope: Construct, id: string, key?: IKey) {
    super(scope, id);
    this.#key = key;
    this.table = new TableV2(this, "Table", {
      partitionKey: { name: "name", type: AttributeType.STRING },
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // Not protected against deletion: that would also refuse the rollback of a first deployment.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
  }

  /** For the scheduler: its own locks and those of schedules. */
  grantOwnLocks(grantee: IGrantable): void {
    this.#grant(grantee, { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": [ownLocks] } });
  }

  /** For processes with handlers: the locks that these name. */
  grantHandlerLocks(grantee: IGrantable): void {
    this.#grant(grantee, { "ForAllValues:StringNotLike": { "dynamodb:LeadingKeys": [ownLocks] } });
  }

  /** For the API, which shows who holds what. */
  grantLooking(grantee: IGrantable): void {
    this.table.grant(grantee, "dynamodb:GetItem");
    grantUse(this.#key, "dynamodb", grantee);
  }

  #grant(grantee: IGrantable, conditions: Record<string, Record<string, readonly string[]>>): void {
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ["dynamodb:GetItem", "dynamodb:UpdateItem"],
        resources: [this.table.tableArn],
        conditions,
      }),
    );
    grantUse(this.#key, "dynamodb", grantee);
  }
}

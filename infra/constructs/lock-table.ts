import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, Billing, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";

/**
 * The table of named locks. No time to live: an item that vanished would let a fence start again from 1.
 * Nothing deletes items either, so no role gets the permission.
 */
export class LockTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.table = new TableV2(this, "Table", {
      partitionKey: { name: "name", type: AttributeType.STRING },
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  grantLocking(grantee: IGrantable): void {
    this.table.grant(grantee, "dynamodb:GetItem", "dynamodb:UpdateItem");
  }
}

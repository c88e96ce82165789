import { RemovalPolicy, Validations } from "aws-cdk-lib";
import { CfnDBInstance, CfnDBParameterGroup } from "aws-cdk-lib/aws-rds";
import type { Construct } from "constructs";
import { type Server, type ServerPlace, type ServerProps, serverReasons } from "./rds-database.ts";

export interface RdsInstanceProps extends ServerProps {
  /** For example `db.t4g.micro`. */
  readonly instanceClass: string;
  readonly storageGb: number;
  readonly multiAz: boolean;
}

export const instanceVersion = "17.7";

/** One instance, with a standby in another zone where `multiAz` says so. */
export function makeInstance(scope: Construct, props: RdsInstanceProps, place: ServerPlace): Server {
  const parameters = new CfnDBParameterGroup(scope, "Parameters", {
    family: "postgres17",
    description: "Belfry",
    parameters: place.parameters,
  });
  const instance = new CfnDBInstance(scope, "Instance", {
    ...place.shared,
    engine: "postgres",
    engineVersion: instanceVersion,
    dbInstanceClass: props.instanceClass,
    dbName: place.databaseName,
    allocatedStorage: String(props.storageGb),
    storageType: "gp3",
    multiAz: props.multiAz,
    autoMinorVersionUpgrade: true,
    publiclyAccessible: false,
    dbParameterGroupName: parameters.ref,
    vpcSecurityGroups: place.securityGroups,
  });
  instance.applyRemovalPolicy(props.deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.SNAPSHOT);
  Validations.of(instance).acknowledge(
    ...serverReasons(props),
    ...(props.multiAz ? [] : [{ id: "AwsSolutions-RDS3", reason: "This stage chose one zone for its price." }]),
  );
  return {
    host: instance.attrEndpointAddress,
    resourceId: instance.attrDbiResourceId,
    secretArn: instance.attrMasterUserSecretSecretArn,
  };
}

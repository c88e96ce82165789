import { RemovalPolicy, Stack, Token, Validations } from "aws-cdk-lib";
import { CfnDBInstance, CfnDBParameterGroup } from "aws-cdk-lib/aws-rds";
import type { Construct } from "constructs";
import { engineVersions } from "../engines.ts";
import { buffersMb, checkpointSettings } from "../server-settings.ts";
import {
  keepWith,
  type Server,
  type ServerPlace,
  type ServerProps,
  serverReasons,
  type ServerSettings,
} from "./rds-database.ts";

/** @beta */
export interface RdsInstanceProps extends ServerProps {
  /** Default `db.t4g.small`. Smaller ones have no memory for sign-in by IAM. */
  readonly instanceClass?: string;
  /** Default 20, which is the least. */
  readonly storageGb?: number;
  /** RDS adds disk by itself up to this, before it is full. Default: five times `storageGb`. */
  readonly maxStorageGb?: number;
  /** Whether a standby waits in another zone. Default false. */
  readonly multiAz?: boolean;
  /** A second place for the backups, for the day that a region is lost: any second of `backupDays` can be restored there too. */
  readonly copyBackupsTo?: BackupCopy;
}

/** With the defaults. */
export type InstanceSettings = ServerSettings &
  RdsInstanceProps &
  Required<Pick<RdsInstanceProps, "instanceClass" | "storageGb" | "maxStorageGb" | "multiAz">>;

/** @beta */
export interface BackupCopy {
  /** Another region than the stack's. */
  readonly region: string;
  /** Of a KMS key of that region, which encrypts them there: a key does not leave its own. */
  readonly kmsKeyArn: string;
}

/** One instance, with a standby in another zone where `multiAz` says so. */
export function makeInstance(scope: Construct, props: InstanceSettings, place: ServerPlace): Server {
  const parameters = new CfnDBParameterGroup(scope, "Parameters", {
    family: "postgres17",
    description: "Belfry",
    parameters: { ...place.parameters, ...checkpointSettings(props.storageGb), ...buffers(props.instanceClass) },
  });
  const instance = new CfnDBInstance(scope, "Instance", {
    ...place.shared,
    engine: "postgres",
    engineVersion: engineVersions.postgres,
    dbInstanceClass: props.instanceClass,
    dbName: place.databaseName,
    allocatedStorage: String(props.storageGb),
    maxAllocatedStorage: props.maxStorageGb,
    storageType: "gp3",
    multiAz: props.multiAz,
    autoMinorVersionUpgrade: true,
    publiclyAccessible: false,
    dbParameterGroupName: parameters.ref,
    vpcSecurityGroups: place.securityGroups,
    ...copied(scope, props),
  });
  if (props.onDelete === "keep") keepWith(instance, parameters);
  else instance.applyRemovalPolicy(RemovalPolicy.SNAPSHOT);
  Validations.of(instance).acknowledge(
    ...serverReasons(place),
    ...(props.multiAz ? [] : [{ id: "AwsSolutions-RDS3", reason: "This stage chose one zone for its price." }]),
  );
  return {
    host: instance.attrEndpointAddress,
    resourceId: instance.attrDbiResourceId,
    secretArn: instance.attrMasterUserSecretSecretArn,
  };
}

function copied(scope: Construct, { copyBackupsTo: copy, backupDays }: InstanceSettings) {
  if (copy === undefined) return {};
  const { region, kmsKeyArn } = copy;
  if (region === Stack.of(scope).region) {
    throw new Error(`database.copyBackupsTo.region is "${region}", the stack's own: name another region`);
  }
  if (!Token.isUnresolved(kmsKeyArn) && !kmsKeyArn.includes(`:kms:${region}:`)) {
    throw new Error(`database.copyBackupsTo.kmsKeyArn is "${kmsKeyArn}": it must be the ARN of a key in "${region}"`);
  }
  return {
    automaticBackupReplicationRegion: region,
    automaticBackupReplicationKmsKeyId: kmsKeyArn,
    automaticBackupReplicationRetentionPeriod: backupDays,
  };
}

/** In pages of 8 KiB. */
function buffers(instanceClass: string): Readonly<Record<string, string>> {
  const mb = buffersMb(instanceClass);
  return mb === null || mb <= 0 ? {} : { shared_buffers: String(mb * 128) };
}

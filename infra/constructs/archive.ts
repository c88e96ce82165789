import { Aws, CfnOutput, Duration, RemovalPolicy, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption, StorageClass } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import type { ArchiveOptions } from "../../src/stage/stages.ts";
import type { Topology } from "../../src/stage/topology.ts";
import { grantUse } from "./encryption.ts";
import type { SchedulerTask } from "./scheduler-task.ts";

/** An upload that was begun and never ended is not seen, and is paid for. */
const uploadDays = 1;

/**
 * The bucket of what was pruned: the stack's own, which outlives it, or one of the user's. Only the scheduler prunes, so only it
 * writes there, below the stage's name, in a bucket of the user's below the system's and the stage's; no process of Belfry reads
 * or deletes what is written.
 */
export class Archive extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { stage, archive = { format: "ndjson" } }: Topology,
    { system, scheduler, key }: { readonly system: string; readonly scheduler: SchedulerTask; readonly key?: IKey },
  ) {
    super(scope, id);
    const folder = archive.bucket === undefined ? ownBucket(this, archive).bucketName : `${archive.bucket}/${system}`;
    const place = `s3://${folder}`;
    const resources = [`arn:${Aws.PARTITION}:s3:::${folder}/${stage}/*`];
    scheduler.role.addToPrincipalPolicy(new PolicyStatement({ actions: ["s3:PutObject"], resources }));
    if (archive.bucket === undefined) grantUse(key, "s3", scheduler.role);
    scheduler.addEnvironment("BELFRY_ARCHIVE", place);
    new CfnOutput(this, "Place", { value: `${place}/${stage}` });
  }
}

function ownBucket(scope: Construct, { coldAfterDays, keptDays }: ArchiveOptions): Bucket {
  const bucket = new Bucket(scope, "Bucket", {
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    lifecycleRules: [
      {
        abortIncompleteMultipartUploadAfter: Duration.days(uploadDays),
        ...(keptDays === undefined ? {} : { expiration: Duration.days(keptDays) }),
        ...(coldAfterDays === undefined
          ? {}
          : {
              transitions: [
                { storageClass: StorageClass.GLACIER_INSTANT_RETRIEVAL, transitionAfter: Duration.days(coldAfterDays) },
              ],
            }),
      },
    ],
  });
  Validations.of(bucket).acknowledge({
    id: "AwsSolutions-S1",
    reason:
      "One role writes it, and CloudTrail's data events say who reads; logs of access would need a bucket of their own.",
  });
  return bucket;
}

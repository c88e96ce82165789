import { Annotations, Aws, CfnResource } from "aws-cdk-lib";
import { CfnGlobalTable } from "aws-cdk-lib/aws-dynamodb";
import { Grant, type IGrantable, PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { CfnLogGroup } from "aws-cdk-lib/aws-logs";
import { CfnDBCluster, CfnDBInstance } from "aws-cdk-lib/aws-rds";
import { CfnBucket } from "aws-cdk-lib/aws-s3";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

/** All that keeps data of a stage gets the key, and the services that use it without a role of the stage are let. */
export function encryptWith(belfry: Construct, key: IKey): void {
  for (const each of belfry.node.findAll()) if (each instanceof CfnResource) encrypt(each, key.keyArn);
  const added = serviceStatements().map((statement) => key.addToResourcePolicy(statement).statementAdded);
  if (added.every(Boolean)) return;
  Annotations.of(belfry).addInfo(
    "the policy of encryptionKey is not in this app: it has to let Logs and EventBridge use the key, docs/security.md",
  );
}

/** The library's own `encryptionMasterKey` would grant each sender `kms:ReEncrypt*` and the like, also outside of the service. */
function encrypt(resource: CfnResource, keyArn: string): void {
  if (resource instanceof CfnQueue) {
    resource.sqsManagedSseEnabled = undefined;
    resource.kmsMasterKeyId = keyArn;
  } else if (resource instanceof CfnGlobalTable) {
    resource.addPropertyOverride("SSESpecification", { SSEEnabled: true, SSEType: "KMS" });
    resource.addPropertyOverride("Replicas.0.SSESpecification.KMSMasterKeyId", keyArn);
  } else if (resource instanceof CfnBucket) {
    const serverSideEncryptionByDefault = { sseAlgorithm: "aws:kms", kmsMasterKeyId: keyArn };
    resource.bucketEncryption = {
      serverSideEncryptionConfiguration: [{ bucketKeyEnabled: true, serverSideEncryptionByDefault }],
    };
  } else if (resource instanceof CfnLogGroup || resource instanceof CfnDBCluster || isAlone(resource)) {
    resource.kmsKeyId = keyArn;
  }
}

/** An instance of a cluster has the cluster's key. */
const isAlone = (resource: CfnResource): resource is CfnDBInstance =>
  resource instanceof CfnDBInstance && resource.dbClusterIdentifier === undefined;

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html and SQS's "Configure KMS permissions for AWS services". */
function serviceStatements(): readonly PolicyStatement[] {
  const groups = `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:*`;
  return [
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${Aws.REGION}.amazonaws.com`)],
      actions: ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
      resources: ["*"],
      conditions: { ArnLike: { "kms:EncryptionContext:aws:logs:arn": groups } },
    }),
    new PolicyStatement({
      principals: [new ServicePrincipal("events.amazonaws.com")],
      actions: ["kms:Decrypt", "kms:GenerateDataKey"],
      resources: ["*"],
      conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } },
    }),
  ];
}

const use = {
  sqs: ["kms:Decrypt", "kms:GenerateDataKey"],
  s3: ["kms:Decrypt", "kms:GenerateDataKey"],
  // What DynamoDB asks of its callers.
  dynamodb: [
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
  ],
} as const;

/** Only through the service: a process that could decrypt by itself would read what is not its own. */
export function grantUse(key: IKey | undefined, service: keyof typeof use, grantee: IGrantable): void {
  if (key === undefined) return;
  const conditions = { StringEquals: { "kms:ViaService": `${service}.${Aws.REGION}.amazonaws.com` } };
  Grant.addToPrincipal({ grantee, actions: [...use[service]], resourceArns: [key.keyArn], conditions });
}

import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, test } from "vitest";
import { defineApp } from "../../src/define/define-app.ts";
import type { ArchiveOptions } from "../../src/stage/stages.ts";
import { topology } from "../../src/stage/topology.ts";
import { stages } from "../support/own-project.ts";
import { resources, templateOf } from "./synthesize.ts";

const app = defineApp({ name: "a", jobs: [] });
const of = (archive?: ArchiveOptions): Template =>
  templateOf(topology([app], { ...stages.prod, ...(archive === undefined ? {} : { archive }) }));

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** Every right in S3 that a role has, with whose it is. */
const rightsInS3 = (template: Template) =>
  resources(template, "AWS::IAM::Policy").flatMap(({ id, Properties }) =>
    (Properties["PolicyDocument"] as { Statement: readonly Statement[] }).Statement.filter(({ Action }) =>
      [Action].flat().some((action) => action.startsWith("s3:")),
    ).map(({ Action, Resource }) => ({ id, Action, Resource })),
  );

const placeOf = (template: Template): unknown =>
  resources(template, "AWS::ECS::TaskDefinition")
    .flatMap(
      ({ Properties }) =>
        (Properties["ContainerDefinitions"] as { Environment?: readonly { Name: string; Value: unknown }[] }[])[0]
          ?.Environment ?? [],
    )
    .find(({ Name }) => Name === "BELFRY_ARCHIVE")?.Value;

describe("a stage that archives in a bucket of its stack", () => {
  let template: Template;
  let bucket: string;
  beforeAll(() => {
    template = of({ format: "ndjson", coldAfterDays: 90, keptDays: 3650 });
    bucket = resources(template, "AWS::S3::Bucket")[0]?.id ?? "";
  });

  test("the bucket is encrypted, closed, moves and deletes as the stage says, and outlives its stack", () => {
    expect(bucket).not.toBe("");
    template.hasResource("AWS::S3::Bucket", {
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
        },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        LifecycleConfiguration: {
          Rules: [
            {
              Status: "Enabled",
              AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
              ExpirationInDays: 3650,
              Transitions: [{ StorageClass: "GLACIER_IR", TransitionInDays: 90 }],
            },
          ],
        },
      },
    });
    template.hasResourceProperties("AWS::S3::BucketPolicy", {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: "Deny", Action: "s3:*", Condition: { Bool: { "aws:SecureTransport": "false" } } }),
        ]),
      },
    });
  });

  test("the scheduler alone may put objects of the stage, and no one may read or delete them", () => {
    expect(rightsInS3(template)).toEqual([
      {
        id: expect.stringMatching(/^BelfrySchedulerTaskRole/) as string,
        Action: "s3:PutObject",
        Resource: { "Fn::Join": ["", ["arn:", { Ref: "AWS::Partition" }, ":s3:::", { Ref: bucket }, "/prod/*"]] },
      },
    ]);
    expect(placeOf(template)).toEqual({ "Fn::Join": ["", ["s3://", { Ref: bucket }]] });
  });

  test("the alarm is there", () => {
    const alarms = resources(template, "AWS::CloudWatch::Alarm").map(({ Properties }) => Properties["MetricName"]);
    expect(alarms).toEqual(expect.arrayContaining(["archive.failed", "archive.lag"]));
  });
});

test("a bucket of the user's gets the right and nothing else", () => {
  const template = of({ format: "ndjson", bucket: "our-own" });
  expect(resources(template, "AWS::S3::Bucket")).toEqual([]);
  expect(rightsInS3(template)).toMatchObject([
    { Resource: { "Fn::Join": ["", ["arn:", { Ref: "AWS::Partition" }, ":s3:::our-own/belfry-prod/prod/*"]] } },
  ]);
  expect(placeOf(template)).toBe("s3://our-own/belfry-prod");
});

test("a stage that does not archive has no bucket, no right, no variable and no alarm", () => {
  const template = of();
  expect(resources(template, "AWS::S3::Bucket")).toEqual([]);
  expect(rightsInS3(template)).toEqual([]);
  expect(placeOf(template)).toBeUndefined();
  for (const name of ["archive.failed", "archive.lag"])
    template.resourcePropertiesCountIs("AWS::CloudWatch::Alarm", { MetricName: name }, 0);
});

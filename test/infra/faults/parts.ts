import { type Fault, sets } from "./fault.ts";

export const parts: readonly Fault[] = [
  {
    name: "subnets are in a zone that CDK made up",
    refusedBy: "zone-names",
    plant: sets("AWS::EC2::Subnet", "AvailabilityZone", "dummy1a"),
  },
  {
    name: "a container has 200 s to stop, more than Fargate allows",
    refusedBy: "stop-timeout",
    plant: sets("AWS::ECS::TaskDefinition", "ContainerDefinitions.0.StopTimeout", 200),
  },
  {
    name: "a lane's queue shows a message again before its function could have timed out",
    refusedBy: "visibility",
    plant: sets("AWS::SQS::Queue", "VisibilityTimeout", 60, /Lane.*Queue/),
  },
  {
    name: "a lane's queue has no dead-letter queue",
    refusedBy: "queue-dead-letters",
    plant: sets("AWS::SQS::Queue", "RedrivePolicy", undefined, /Lane.*Queue/),
  },
  {
    name: "a message dies after two receives, which throttling alone can cause",
    refusedBy: "queue-dead-letters",
    plant: sets("AWS::SQS::Queue", "RedrivePolicy.maxReceiveCount", 2, /Lane.*Queue/),
  },
  {
    name: "a dead-letter queue keeps messages no longer than its source",
    refusedBy: "dead-letter-retention",
    plant: sets("AWS::SQS::Queue", "MessageRetentionPeriod", 345_600, /Lane.*DeadLetters/),
  },
  {
    name: "a mapping gives back a whole batch when one message fails",
    refusedBy: "partial-batch",
    plant: sets("AWS::Lambda::EventSourceMapping", "FunctionResponseTypes", undefined),
  },
  {
    name: "a wake that could not start a task leaves no trace",
    refusedBy: "rule-dead-letters",
    plant: sets("AWS::Events::Rule", "Targets.0.DeadLetterConfig", undefined),
  },
  {
    name: "a wake is delivered for a day by EventBridge's default",
    refusedBy: "stale-wakes",
    plant: sets("AWS::Events::Rule", "Targets.0.RetryPolicy", undefined),
  },
  {
    name: "a task runs in a public subnet without a public address",
    refusedBy: "public-address",
    plant: sets(
      "AWS::Events::Rule",
      "Targets.0.EcsParameters.NetworkConfiguration.AwsVpcConfiguration.AssignPublicIp",
      "DISABLED",
    ),
  },
  {
    name: "the task has another architecture than the functions and the image",
    refusedBy: "one-architecture",
    plant: sets("AWS::ECS::TaskDefinition", "RuntimePlatform.CpuArchitecture", "X86_64"),
  },
  {
    name: "a lane's workers alone use up the database's connections",
    refusedBy: "connections",
    plant: sets("AWS::Lambda::EventSourceMapping", "ScalingConfig.MaximumConcurrency", 200),
  },
  {
    name: "a rule may pass on any role",
    refusedBy: "pass-role",
    plant: sets("AWS::IAM::Policy", "PolicyDocument.Statement.1.Resource", "*", /WakeRole/),
  },
  {
    name: "the API's URL answers anybody",
    refusedBy: "signed-url",
    plant: sets("AWS::Lambda::Url", "AuthType", "NONE"),
  },
  {
    name: "items of the lock table expire",
    refusedBy: "lock-table",
    plant: sets("AWS::DynamoDB::GlobalTable", "TimeToLiveSpecification", { AttributeName: "expires", Enabled: true }),
  },
  {
    name: "a log group keeps its lines for ever",
    refusedBy: "log-retention",
    plant: sets("AWS::Logs::LogGroup", "RetentionInDays", undefined),
  },
  {
    name: "a function's environment has the password of the database",
    refusedBy: "no-password",
    plant: sets(
      "AWS::Lambda::Function",
      "Environment.Variables.DATABASE_URL",
      "{{resolve:secretsmanager:belfry:SecretString:url}}",
      /Worker/,
    ),
  },
];

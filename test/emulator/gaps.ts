/** Properties that the emulator drops, each with what it leaves unproven here. */
export const dropped: Readonly<Record<string, string>> = {
  "AWS::DynamoDB::GlobalTable.Replicas.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled":
    "that the lock table can be restored",
  "AWS::DynamoDB::GlobalTable.Replicas.Tags.Key": "tags of the lock table",
  "AWS::DynamoDB::GlobalTable.Replicas.Tags.Value": "tags of the lock table",
  "AWS::ECS::TaskDefinition.RuntimePlatform.CpuArchitecture": "that the task starts on ARM",
  "AWS::ECS::TaskDefinition.RuntimePlatform.OperatingSystemFamily": "that the task starts on ARM",
  "AWS::Lambda::EventSourceMapping.Tags.Key": "tags of the mappings",
  "AWS::Lambda::EventSourceMapping.Tags.Value": "tags of the mappings",
  "AWS::Lambda::Function.RecursiveLoop":
    "that a job may enqueue the next one without end: the check of the template decides it",
  "AWS::Lambda::Function.VpcConfig.SecurityGroupIds":
    "that functions reach anything from a VPC: the check of the template decides it",
  "AWS::Lambda::Function.VpcConfig.SubnetIds":
    "that functions reach anything from a VPC: the check of the template decides it",
};

/** Types of which nothing can be read back. */
export const unread: Readonly<Record<string, string>> = {
  "AWS::CloudWatch::Dashboard": "what the dashboard shows: test/infra holds its body to the metrics",
  "Custom::BelfryMigration": "its work is in the database, which the scenario reads",
};

import { type Fault, first, inside, removes, sets } from "./fault.ts";

export const rights: readonly Fault[] = [
  {
    name: "a worker of the release may run before its schema is there",
    refusedBy: "migration-first",
    plant(template) {
      for (const [id, resource] of Object.entries(template.Resources)) {
        if (/Worker/.test(id) && resource.Type === "AWS::Lambda::Function") resource.DependsOn = [];
      }
    },
  },
  {
    name: "the database's disk is not encrypted",
    refusedBy: "AwsSolutions-RDS2",
    plant: sets("AWS::RDS::DBInstance", "StorageEncrypted", false),
  },
  {
    name: "the database's class has no memory left for sign-in by IAM",
    refusedBy: "sign-in-memory",
    saying: /db.t4g.micro has too little/,
    plant(template) {
      first(template, "AWS::RDS::DBInstance").Properties["DBInstanceClass"] = "db.t4g.micro";
    },
  },
  {
    name: "the buffers of a burstable database take the memory of sign-in by IAM",
    refusedBy: "sign-in-memory",
    saying: /at most 212 MiB/,
    plant(template) {
      delete inside(first(template, "AWS::RDS::DBParameterGroup").Properties, "Parameters")["shared_buffers"];
    },
  },
  {
    name: "the database has a public address",
    refusedBy: "private-database",
    plant: sets("AWS::RDS::DBInstance", "PubliclyAccessible", true),
  },
  {
    name: "a queue takes connections without TLS",
    refusedBy: "AwsSolutions-SQS4",
    plant: removes(/LaneDefaultQueue|LanedefaultQueue/, "AWS::SQS::QueuePolicy"),
  },
  {
    name: "a worker may do anything with any queue",
    refusedBy: "AwsSolutions-IAM5",
    plant(template) {
      const { Properties } = first(template, "AWS::IAM::Policy", /Worker/);
      Object.assign(inside(Properties, "PolicyDocument", "Statement", 0), { Action: "sqs:*", Resource: "*" });
    },
  },
  {
    name: "a container may write to its root file system",
    refusedBy: "read-only-root",
    plant: sets("AWS::ECS::TaskDefinition", "ContainerDefinitions.0.ReadonlyRootFilesystem", false),
  },
  {
    name: "a rule may start its task in any cluster",
    refusedBy: "run-task",
    plant: sets("AWS::IAM::Policy", "PolicyDocument.Statement.0.Condition", undefined, /WakeRole/),
  },
  {
    name: "a worker launches tasks, and no rule reports when they stop",
    refusedBy: "task-ends",
    plant: sets("AWS::Lambda::Function", "Environment.Variables.BELFRY_TASKS", "{}", /Worker/),
  },
  {
    name: "the rules' role may be taken for a rule of another account",
    refusedBy: "own-source",
    plant: sets("AWS::IAM::Role", "AssumeRolePolicyDocument.Statement.0.Condition", undefined, /WakeRole/),
  },
  {
    name: "a task's role may be taken for a task of another account",
    refusedBy: "own-source",
    plant: sets("AWS::IAM::Role", "AssumeRolePolicyDocument.Statement.0.Condition", undefined, /SchedulerTaskRole/),
  },
  {
    name: "the NAT instance has no public address, as the library's own has none",
    refusedBy: "reachability",
    at: "Lane-default/Worker",
    saying: /no path to the internet \(BelfryNetworkNat\w+ has no public address/,
    ipv4: "instance",
    plant: sets("AWS::EC2::Instance", "NetworkInterfaces.0.AssociatePublicIpAddress", false),
  },
  {
    name: "the API decrypts what jobs are sealed by",
    refusedBy: "seal-keys",
    at: "Http/Api",
    saying: /runs no handler/,
    plant: decrypts(/^BelfryHttpApiRoleDefaultPolicy/, "payroll"),
  },
  {
    name: "a lane decrypts what any name of the key has sealed",
    refusedBy: "seal-keys",
    saying: /any name/,
    plant: decrypts(/LanedefaultWorkerRoleDefaultPolicy/),
  },
  {
    name: "a queue is not encrypted by the stage's own key",
    refusedBy: "own-key",
    at: "Lane-default/DeadLetters",
    saying: /has another key/,
    ipv4: "instance",
    plant: sets("AWS::SQS::Queue", "KmsMasterKeyId", undefined, /Lanedefault/),
  },
  {
    name: "logs are not encrypted by the stage's own key",
    refusedBy: "own-key",
    at: "Scheduler/Log",
    saying: /has another key/,
    ipv4: "instance",
    plant: sets("AWS::Logs::LogGroup", "KmsKeyId", undefined, /SchedulerLog/),
  },
  {
    name: "the lock table is not encrypted by the stage's own key",
    refusedBy: "own-key",
    at: "Locks",
    saying: /has another key/,
    ipv4: "instance",
    plant: sets("AWS::DynamoDB::GlobalTable", "Replicas.0.SSESpecification", undefined),
  },
  {
    name: "a worker may not use the key of its queue and its locks",
    refusedBy: "own-key",
    at: "Lane-default/Worker",
    saying: /through sqs.*through dynamodb|through dynamodb|through sqs/,
    ipv4: "instance",
    plant(template) {
      const policy = inside(first(template, "AWS::IAM::Policy", /LanedefaultWorker/).Properties, "PolicyDocument");
      policy["Statement"] = (policy["Statement"] as object[]).filter(
        (each) => !JSON.stringify(each).includes("kms:ViaService"),
      );
    },
  },
  {
    name: "the key's policy lets neither Logs nor EventBridge use it",
    refusedBy: "own-key",
    saying: /does not let events\. use it/,
    ipv4: "instance",
    plant(template) {
      const keyed = JSON.stringify(template.Resources).replaceAll(`"${stageKey}"`, '{"Fn::GetAtt":["Key","Arn"]}');
      Object.assign(template.Resources, JSON.parse(keyed));
      template.Resources["Key"] = { Type: "AWS::KMS::Key", Properties: { KeyPolicy: { Statement: [] } } };
    },
  },
];

/** Of the template whose way out is an instance. */
export const stageKey = "arn:aws:kms:eu-west-1:111122223333:key/22222222-2222-3333-4444-555555555555";
const sealKey = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555";

/** @param seal the name that the statement is limited to */
function decrypts(policy: RegExp, seal?: string): Fault["plant"] {
  return (template) => {
    const worker = first(template, "AWS::Lambda::Function", /LanedefaultWorker/).Properties;
    inside(worker, "Environment", "Variables")["BELFRY_SEALS"] = JSON.stringify({ payroll: sealKey });
    const { Statement } = inside(first(template, "AWS::IAM::Policy", policy).Properties, "PolicyDocument");
    const Condition = seal && { StringEquals: { "kms:EncryptionContext:belfry:seal": seal } };
    (Statement as object[]).push({ Effect: "Allow", Action: "kms:Decrypt", Resource: sealKey, Condition });
  };
}

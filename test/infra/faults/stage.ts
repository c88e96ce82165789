import { type Fault, first, inside, removes, sets } from "./fault.ts";

export const stage: readonly Fault[] = [
  {
    name: "a worker may write to a service that has no IPv6 name, where there is no IPv4",
    refusedBy: "reachability",
    at: "Worker",
    saying: /no path to ses .*ses is not called over it/,
    plant(template) {
      const policy = first(template, "AWS::IAM::Policy", /Worker/).Properties;
      const statements = inside(policy, "PolicyDocument")["Statement"] as unknown[];
      statements.push({ Effect: "Allow", Action: "ses:SendEmail", Resource: "arn:aws:ses:eu-west-1:1:identity/a" });
    },
  },
  {
    name: "nothing counts the connections of the API",
    refusedBy: "connections",
    saying: /of the API are not counted/,
    plant(template) {
      delete inside(template.Metadata, "Belfry", "belfry-smoke/Belfry")["ApiConnections"];
    },
  },
  {
    name: "the API connects as the workers do, without a limit of its own",
    refusedBy: "api-connections",
    at: "Http/Api",
    plant(template) {
      const worker = first(template, "AWS::Lambda::Function", /Worker/).Properties;
      const api = inside(first(template, "AWS::Lambda::Function", /HttpApi/).Properties, "Environment", "Variables");
      api["DATABASE_URL"] = inside(worker, "Environment", "Variables")["DATABASE_URL"];
    },
  },
  {
    name: "a queue is kept also when the deployment that makes it fails",
    refusedBy: "first-deployment",
    at: "Lane-default",
    saying: /Retain/,
    plant(template) {
      const [queue] = Object.entries(template.Resources).filter(([id]) => /Lanedefault.*Queue/.test(id));
      if (queue !== undefined) queue[1].DeletionPolicy = "Retain";
    },
  },
  {
    name: "the lock table refuses the rollback of a first deployment",
    refusedBy: "first-deployment",
    at: "Locks/Table",
    plant: sets("AWS::DynamoDB::GlobalTable", "Replicas.0.DeletionProtectionEnabled", true),
  },
  {
    name: "the lock table cannot be restored",
    refusedBy: "lock-table",
    at: "Locks/Table",
    saying: /cannot be restored/,
    plant: sets("AWS::DynamoDB::GlobalTable", "Replicas.0.PointInTimeRecoverySpecification", undefined),
  },
  {
    name: "the lock table goes with its stack",
    refusedBy: "lock-table",
    at: "Locks/Table",
    saying: /DeletionPolicy Delete/,
    plant(template) {
      const [table] = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::DynamoDB::GlobalTable");
      delete table?.DeletionPolicy;
    },
  },
  {
    name: "the passes ask for a capacity that the cluster does not have",
    refusedBy: "spare-capacity",
    at: "Scheduler/Wake-pass",
    saying: /FARGATE_SPOT/,
    plant: removes(/^/, "AWS::ECS::ClusterCapacityProviderAssociations"),
  },
  {
    name: "the scheduler's tasks carry no tags",
    refusedBy: "tagged-tasks",
    at: "Scheduler/Wake-pass",
    plant: sets("AWS::Events::Rule", "Targets.0.EcsParameters.PropagateTags", undefined, /Wakepass/),
  },
  {
    name: "the scheduler's service waits for hours for a task that cannot start",
    refusedBy: "service-start",
    at: "Scheduler/Service",
    ipv4: "gateway",
    plant(template) {
      delete inside(first(template, "AWS::ECS::Service").Properties, "DeploymentConfiguration")[
        "DeploymentCircuitBreaker"
      ];
    },
  },
  {
    name: "the service asks for a capacity that the cluster does not have",
    refusedBy: "spare-capacity",
    at: "Scheduler/Service",
    ipv4: "gateway",
    plant(template) {
      first(template, "AWS::ECS::Service").Properties["CapacityProviderStrategy"] = [{ CapacityProvider: "OWN" }];
    },
  },
  {
    name: "the service's task carries no tags",
    refusedBy: "tagged-tasks",
    at: "Scheduler/Service",
    ipv4: "gateway",
    plant(template) {
      delete first(template, "AWS::ECS::Service").Properties["PropagateTags"];
    },
  },
  {
    name: "the service of a release may run before its schema is there",
    refusedBy: "migration-first",
    at: "Scheduler/Service",
    ipv4: "gateway",
    plant(template) {
      const [service] = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::ECS::Service");
      if (service !== undefined) service.DependsOn = [];
    },
  },
  {
    name: "a rule may start only the newest revision of its task, while the rule itself still names the one before",
    refusedBy: "run-task",
    saying: /one revision/,
    plant: sets("AWS::IAM::Policy", "PolicyDocument.Statement.0.Resource", { Ref: "BelfrySchedulerTask" }, /WakeRole/),
  },
  {
    name: "Lambda stops a worker after 16 jobs that enqueue the next one",
    refusedBy: "own-messages",
    at: "Lane-default/Worker",
    plant: sets("AWS::Lambda::Function", "RecursiveLoop", undefined, /LanedefaultWorker/),
  },
];

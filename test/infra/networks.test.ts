import { chosenDatabase, type DatabaseProps } from "../../infra/constructs/database-defaults.ts";
import { windowsOf } from "../../infra/constructs/server-windows.ts";
import { Vpc, SubnetType } from "aws-cdk-lib/aws-ec2";
import { Cluster } from "aws-cdk-lib/aws-ecs";
import { ManagedPolicy } from "aws-cdk-lib/aws-iam";
import { Template } from "aws-cdk-lib/assertions";
import { Stack } from "aws-cdk-lib";
import { expect, test } from "vitest";
import { loadApps, stages } from "../support/own-project.ts";
import { type Topology, topology } from "../../src/stage/topology.ts";
import { Belfry } from "../../infra/constructs/belfry.ts";
import { noAlarms } from "../../infra/constructs/alarm-choices.ts";
import { type Deployment, deployments } from "../../infra/stages.ts";
import { code, image, newApp, resources, templateOf } from "./synthesize.ts";

const all = topology(await loadApps(stages.prod), stages.prod);
const prod = templateOf(all);
const database = deployments["prod"]?.database ?? { kind: "existing" as const };
/** Of a stage without alarms, which are a third of it and in no network. */
const quiet = (of: Topology, over: Partial<Deployment> = {}) => templateOf(of, { alarms: noAlarms, ...over });
const inRegion = (region: string, zones: readonly [string, string]) =>
  quiet(all, {
    env: { account: "123456789012", region },
    network: { kind: "default", ipv4: "gateway", gateways: 1, zones },
  });

test.each([
  { region: "eu-central-1", zones: ["eu-central-1a", "eu-central-1b"] as const },
  { region: "ap-northeast-2", zones: ["ap-northeast-2a", "ap-northeast-2c"] as const },
])("the stage can be deployed in $region, in zones of that region", ({ region, zones }) => {
  const subnets = resources(inRegion(region, zones), "AWS::EC2::Subnet");
  expect(new Set(subnets.map(({ Properties }) => Properties["AvailabilityZone"]))).toEqual(new Set(zones));
});

test("a stage that names its region but not its zones is refused with what to write", () => {
  expect(() => quiet(all, { env: { account: "123456789012", region: "eu-west-1" } })).toThrow(
    'network.zones is missing: the stack is for eu-west-1, so name two of its zones, for example ["eu-west-1a", "eu-west-1b"]',
  );
});

test("the default network may have one NAT gateway, and its tasks have no public addresses", () => {
  const template = quiet(all, { network: { kind: "default", ipv4: "gateway", gateways: 1 } });
  expect(resources(template, "AWS::EC2::NatGateway")).toHaveLength(1);
  expect(resources(template, "AWS::EC2::Instance")).toEqual([]);
  expect(JSON.stringify(resources(template, "AWS::ECS::Service"))).toContain('"AssignPublicIp":"DISABLED"');
});

test("a gateway in each zone makes no zone depend on the other", () => {
  const template = quiet(all, { network: { kind: "default", ipv4: "gateway", gateways: 2 } });
  expect(resources(template, "AWS::EC2::NatGateway")).toHaveLength(2);
  const routes = resources(template, "AWS::EC2::Route").flatMap(({ Properties }) => Properties["NatGatewayId"] ?? []);
  expect(new Set(routes.map((gateway) => JSON.stringify(gateway)))).toHaveProperty("size", 2);
});

test("an instance of its own image forwards instead of a gateway, and a new image of Amazon's does not replace it", () => {
  const small = { kind: "small", ipv4: "instance", imageId: "ami-0123456789abcdef0" } as const;
  const template = quiet(topology([], stages.dev), { network: small });
  const [nat, ...others] = resources(template, "AWS::EC2::Instance");
  expect(others).toEqual([]);
  expect(nat?.Properties).toMatchObject({ ImageId: small.imageId, SourceDestCheck: false });
  const boot = JSON.stringify(nat?.Properties["UserData"]);
  // Each line may fail, the last one asks for a page, and what the exit code was is signalled.
  expect(boot).toMatch(/set -euo pipefail.*nft list table ip nat.*curl --fail/);
  expect(boot).toContain("cfn-signal --stack");
});

test("the small network has no NAT, its functions use IPv6, and nothing can call its tasks' addresses", () => {
  const template = quiet(topology([], stages.dev));
  expect(resources(template, "AWS::EC2::NatGateway")).toEqual([]);
  expect(resources(template, "AWS::EC2::Instance")).toEqual([]);
  expect(resources(template, "AWS::EC2::EgressOnlyInternetGateway")).toHaveLength(1);
  expect(JSON.stringify(resources(template, "AWS::Events::Rule"))).toContain('"AssignPublicIp":"ENABLED"');
  const open = JSON.stringify(
    resources(template, "AWS::EC2::SecurityGroup").map((group) => group.Properties["SecurityGroupIngress"] ?? []),
  );
  expect(open).not.toContain("0.0.0.0/0");
});

test("subnets without a way out hold the database, and only its own clients reach it", () => {
  const [ingress] = resources(prod, "AWS::EC2::SecurityGroupIngress");
  expect(ingress?.Properties).toMatchObject({ FromPort: 5432, ToPort: 5432 });
  expect(resources(prod, "AWS::RDS::DBInstance")[0]).toMatchObject({
    DeletionPolicy: "RetainExceptOnCreate",
    Properties: {
      MultiAZ: true,
      StorageEncrypted: true,
      PubliclyAccessible: false,
      BackupRetentionPeriod: 7,
      DeletionProtection: false,
      MaxAllocatedStorage: 500,
      EnableIAMDatabaseAuthentication: true,
      MasterUserAuthenticationType: "iam-db-auth",
    },
  });
});

test("backups are copied to another region under a key of that region", () => {
  if (database.kind !== "instance") throw new Error("prod has no instance");
  const kmsKeyArn = "arn:aws:kms:eu-west-1:111122223333:key/1";
  const copied = (region: string) => quiet(all, { database: { ...database, copyBackupsTo: { region, kmsKeyArn } } });
  copied("eu-west-1").hasResourceProperties("AWS::RDS::DBInstance", {
    AutomaticBackupReplicationRegion: "eu-west-1",
    AutomaticBackupReplicationKmsKeyId: kmsKeyArn,
    AutomaticBackupReplicationRetentionPeriod: 7,
  });
  expect(() => copied("eu-north-1")).toThrow(`"${kmsKeyArn}": it must be the ARN of a key in "eu-north-1"`);
});

test("what RDS says about an own server is sent on, by a topic that takes it from this account", () => {
  const [{ id } = { id: "" }] = resources(prod, "AWS::RDS::DBInstance");
  const [events] = resources(prod, "AWS::RDS::EventSubscription");
  expect(events?.Properties).toMatchObject({ SourceType: "db-instance", SourceIds: [{ Ref: id }] });
  expect(JSON.stringify(events?.Properties["SnsTopicArn"])).toContain("BelfryTopicsWarn");
  const policies = resources(prod, "AWS::SNS::TopicPolicy").filter((policy) => policy.id.includes("Warn"));
  expect(JSON.stringify(policies)).toContain("events.rds.amazonaws.com");
  expect(JSON.stringify(events)).toContain(policies[0]?.id);
});

test("an own cluster goes after the tasks in it were ended, and a team's own keeps its tasks", () => {
  const migration = (template: Template) =>
    Object.values(template.findResources("Custom::BelfryMigration")) as unknown as readonly {
      readonly DependsOn: readonly string[];
    }[];
  const [cluster] = resources(prod, "AWS::ECS::Cluster");
  expect(migration(prod)[0]?.DependsOn).toContain(cluster?.id);
  const stack = new Stack(newApp(), "team");
  const vpc = new Vpc(stack, "Vpc") as never;
  const theirs = Cluster.fromClusterAttributes(stack, "Theirs", { clusterName: "theirs", vpc });
  const network = { kind: "existing", vpc } as const;
  const release = { topology: all, code, image };
  new Belfry(stack, "Belfry", { stage: all.stage, release, alarms: noAlarms, database, network, cluster: theirs });
  const team = Template.fromStack(stack);
  const policies = resources(team, "AWS::IAM::Policy").filter((policy) => policy.id.includes("MigrationMigrate"));
  expect(policies).toHaveLength(1);
  expect(JSON.stringify(policies)).not.toContain("ecs:");
  expect(JSON.stringify(resources(team, "AWS::Lambda::Function"))).not.toContain("BELFRY_CLUSTER");
});

test("Aurora Serverless takes the instance's place by one property", () => {
  const aurora = { kind: "aurora-serverless", minCapacity: 0.5, maxCapacity: 4, backupDays: 7 } as const;
  const template = quiet(all, { database: { ...aurora, onDelete: "keep", deletionProtection: true } });
  expect(resources(template, "AWS::RDS::DBCluster")[0]?.Properties).toMatchObject({
    ServerlessV2ScalingConfiguration: { MinCapacity: 0.5, MaxCapacity: 4 },
    StorageEncrypted: true,
    EnableIAMDatabaseAuthentication: true,
  });
  expect(resources(template, "AWS::RDS::DBInstance").map(({ Properties }) => Properties["DBInstanceClass"])).toEqual([
    "db.serverless",
  ]);
});

test("Aurora has a reader to fail over to, and its alarms are about whichever instance writes", () => {
  const aurora = { kind: "aurora", instanceClass: "db.r8g.large", ioOptimized: true, backupDays: 7 } as const;
  const template = templateOf(all, { database: { ...aurora, onDelete: "keep" } });
  const [cluster] = resources(template, "AWS::RDS::DBCluster");
  expect(cluster?.Properties).toMatchObject({ StorageType: "aurora-iopt1", StorageEncrypted: true });
  expect(cluster?.Properties).not.toHaveProperty("ServerlessV2ScalingConfiguration");
  const classes = resources(template, "AWS::RDS::DBInstance").map(({ Properties }) => Properties["DBInstanceClass"]);
  expect(classes).toEqual(["db.r8g.large", "db.r8g.large"]);
  const read = resources(template, "AWS::CloudWatch::Alarm").filter(
    ({ Properties }) => Properties["Namespace"] === "AWS/RDS",
  );
  expect(read.length).toBeGreaterThan(4);
  for (const { Properties } of read) {
    const names = (Properties["Dimensions"] as { Name: string }[]).map(({ Name }) => Name);
    expect(names).toEqual(["DBClusterIdentifier", "Role"]);
  }
});

test("an own network has the range that it is given, so that two can be joined", () => {
  const template = quiet(all, { network: { kind: "small", ipv4: "none", cidr: "10.32.0.0/20" } });
  expect(resources(template, "AWS::EC2::VPC")[0]?.Properties["CidrBlock"]).toBe("10.32.0.0/20");
});

test("checkpoints come each half hour, for a tenth of the disk", () => {
  const [group] = resources(prod, "AWS::RDS::DBParameterGroup");
  expect(group?.Properties["Parameters"]).toMatchObject({ checkpoint_timeout: "1800", max_wal_size: "5120" });
});

test("a team puts Belfry into its own stack, with its own network, boundary and tags", () => {
  const stack = new Stack(newApp(), "team");
  const vpc = new Vpc(stack, "Vpc", {
    subnetConfiguration: [
      { name: "out", subnetType: SubnetType.PUBLIC },
      { name: "in", subnetType: SubnetType.PRIVATE_WITH_EGRESS },
    ],
  });
  new Belfry(stack, "Belfry", {
    stage: all.stage,
    release: { topology: all, code, image },
    alarms: noAlarms,
    database,
    network: { kind: "existing", vpc: vpc as never },
    permissionsBoundary: ManagedPolicy.fromManagedPolicyName(stack, "Boundary", "team-boundary"),
    tags: { team: "ledger" },
  });
  const template = Template.fromStack(stack);
  const roles = resources(template, "AWS::IAM::Role").filter(({ id }) => id.startsWith("Belfry"));
  expect(roles.length).toBeGreaterThan(4);
  for (const role of roles) expect(JSON.stringify(role.Properties["PermissionsBoundary"])).toContain("team-boundary");
  const [cluster] = resources(template, "AWS::ECS::Cluster");
  expect(cluster?.Properties["Tags"]).toEqual(
    expect.arrayContaining([
      { Key: "belfry:stage", Value: "prod" },
      { Key: "team", Value: "ledger" },
    ]),
  );
});

test("all that keeps data has the team's key, and RDS works when the team says", () => {
  const keyArn = "arn:aws:kms:eu-central-1:111122223333:key/11111111-2222-3333-4444-555555555555";
  const windows = { backupWindow: "23:45-00:15", maintenanceWindow: "sun:04:00-sun:04:30" };
  const chosen = { ...database, ...windows } as typeof database;
  const template = quiet(all, { database: chosen, encryptionKeyArn: keyArn });
  for (const type of ["AWS::SQS::Queue", "AWS::Logs::LogGroup", "AWS::DynamoDB::GlobalTable"])
    for (const each of resources(template, type)) expect(JSON.stringify([each.id, each])).toContain(keyArn);
  const [server] = resources(template, "AWS::RDS::DBInstance");
  expect(server?.Properties).toMatchObject({
    KmsKeyId: keyArn,
    PreferredBackupWindow: "23:45-00:15",
    PreferredMaintenanceWindow: "sun:04:00-sun:04:30",
  });
});

test.each([
  [{ backupWindow: "03:00-03:29" }, 'database.backupWindow is "03:00-03:29": it must be at least half an hour'],
  [{ backupWindow: "3:00-4:00" }, 'database.backupWindow is "3:00-4:00"'],
  [{ maintenanceWindow: "so:04:00-so:05:00" }, 'database.maintenanceWindow is "so:04:00-so:05:00"'],
  [
    { backupWindow: "23:45-00:15", maintenanceWindow: "mon:00:00-mon:01:00" },
    'it must not overlap the backups at "23:45-00:15"',
  ],
])("windows that RDS would refuse when they are deployed are refused before: %o", (windows, says) => {
  expect(() => windowsOf(windows)).toThrow(says);
});

test("an instance is asked for by what differs from the small one of a stage without props", () => {
  const small = chosenDatabase();
  expect(small).toMatchObject({ instanceClass: "db.t4g.small", storageGb: 20, backupDays: 7, onDelete: "snapshot" });
  const wanted = { kind: "instance", multiAz: true, storageGb: 100 } as const;
  expect(chosenDatabase(wanted)).toEqual({ ...small, ...wanted, maxStorageGb: 500 });
});

test.each([
  [{ kind: "rds" }, 'database.kind is "rds": it must be one of instance, aurora, aurora-serverless, existing'],
  [{ kind: "instance", storageGB: 50 }, 'database.storageGB is no field of kind "instance": it has kind,'],
  [{ kind: "instance", storageGb: 5 }, "database.storageGb is 5: it must be a whole number from 20 to 65536"],
  [
    { kind: "instance", instanceClass: "t4g.small" },
    'database.instanceClass is "t4g.small": it must be a class of RDS',
  ],
  [{ kind: "instance", storageGb: 50, maxStorageGb: 40 }, "database.maxStorageGb is 40: it must be at least storageGb"],
  [{ kind: "instance", onDelete: "delete" }, 'database.onDelete is "delete": it must be "keep" or "snapshot"'],
  [{ kind: "aurora" }, "database.instanceClass is undefined: it must be a class of RDS"],
  [{ kind: "aurora-serverless", minCapacity: 0.3, maxCapacity: 4 }, "database.minCapacity is 0.3: it must be a number"],
])("a database that a program without types asks for is refused by its field: %j", (given, says) => {
  expect(() => chosenDatabase(given as DatabaseProps)).toThrow(says);
});

test("windows that only touch, also over the end of a week, are taken", () => {
  const windows = { backupWindow: "03:00-04:00", maintenanceWindow: "sun:23:30-mon:00:30" };
  expect(windowsOf(windows)).toEqual({
    preferredBackupWindow: "03:00-04:00",
    preferredMaintenanceWindow: "sun:23:30-mon:00:30",
  });
  expect(() => windowsOf({ ...windows, maintenanceWindow: "tue:04:00-tue:04:30" })).not.toThrow();
});

import { buffersMb } from "../server-settings.ts";
import { type Check, type Finding, ofEach } from "./check.ts";
import { joinText } from "./processes.ts";
import { at, byId, isObject, ofType, ownFunctions, referenceOf, type Template } from "./template.ts";

const secretValue = /\{\{resolve:(secretsmanager|ssm-secure):|postgres(ql)?:\/\/[^"@/]*:[^"@/]+@/;

export const dataChecks: readonly Check[] = [
  {
    id: "lock-table",
    rule: "the lock table expires no item, stays when the stack goes, and can be restored: a lost item lets a fence start again",
    find: ofEach("AWS::DynamoDB::GlobalTable", ({ id, properties }, template) => {
      const policy = template.Resources[id]?.DeletionPolicy;
      const isRestorable = everyReplica(properties, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled");
      return [
        ...(properties["TimeToLiveSpecification"] === undefined ? [] : ["has a time to live"]),
        ...(policy === "RetainExceptOnCreate" ? [] : [`is left to DeletionPolicy ${policy ?? "Delete"}`]),
        ...(isRestorable ? [] : ["cannot be restored"]),
      ];
    }),
  },
  {
    id: "first-deployment",
    rule: "what a deployment makes it can also delete when it fails: no Retain on creation, no protection of a server that the rollback must delete",
    find: (template) => [
      ...Object.entries(template.Resources)
        .filter(([, resource]) => resource.DeletionPolicy === "Retain")
        .map(([resource]) => ({ resource, detail: "DeletionPolicy Retain: RetainExceptOnCreate keeps it as well" })),
      ...ofEach("AWS::DynamoDB::GlobalTable", ({ properties }) =>
        everyReplica(properties, "DeletionProtectionEnabled") ? "DeletionProtectionEnabled" : null,
      )(template),
    ],
  },
  {
    id: "private-database",
    rule: "no database has a public address",
    find: ofEach("AWS::RDS::DBInstance", ({ properties: { PubliclyAccessible: isPublic } }) =>
      isPublic === false ? null : `PubliclyAccessible ${JSON.stringify(isPublic) ?? "left out"}`,
    ),
  },
  {
    id: "sign-in-memory",
    rule: "a burstable database leaves 300 MiB for sign-in by IAM, taken from its buffers, as AWS advises: or sign-in fails under load",
    find: ofEach("AWS::RDS::DBInstance", ({ properties }, template) => {
      const instanceClass = String(properties["DBInstanceClass"]);
      const mb = buffersMb(instanceClass);
      if (mb === null || properties["EnableIAMDatabaseAuthentication"] !== true) return null;
      if (mb <= 0) return `${instanceClass} has too little memory`;
      const group = byId(template, referenceOf(properties["DBParameterGroupName"]));
      const pages = Number(at(group?.properties, "Parameters", "shared_buffers"));
      return pages <= mb * 128 ? null : `shared_buffers is not at most ${mb} MiB`;
    }),
  },
  {
    id: "no-password",
    rule: "no password is in a function's or task's configuration: it is fetched or signed at run time",
    find: (template) =>
      ["AWS::Lambda::Function", "AWS::ECS::TaskDefinition"].flatMap((type) =>
        ofEach(type, ({ properties }) =>
          secretValue.test(JSON.stringify(properties)) ? "its environment has a secret's value" : null,
        )(template),
      ),
  },
  {
    id: "connections",
    rule: "all processes together open at most 60 % of the database's connections: lower a lane's concurrency or apiConcurrency, or raise maxConnections",
    find: connections,
  },
  {
    id: "api-connections",
    rule: "the API connects as a role with a limit of its own, or a burst of requests takes the scheduler's connections",
    find: unlimitedApis,
  },
  {
    id: "migration-first",
    rule: "functions, tasks and rules of a release wait for its migration",
    find: (template) => {
      const releases = ofType(template, "Custom::BelfryMigration").map(({ id }) => id);
      if (releases.length === 0) return [];
      const runners = [
        ...ownFunctions(template).filter(({ id }) => !isMigration(id)),
        ...ofType(template, "AWS::ECS::TaskDefinition"),
        ...ofType(template, "AWS::ECS::Service"),
        ...ofType(template, "AWS::Events::Rule"),
      ];
      return runners
        .filter(({ dependsOn }) => !releases.every((release) => dependsOn.includes(release)))
        .map(({ id }) => ({ resource: id, detail: "does not depend on the migration" }));
    },
  },
];

/** Where the deployment makes the roles, the API has the one whose connections are limited. */
function unlimitedApis(template: Template): readonly Finding[] {
  const urlOf = (fn: unknown): string => joinText(at(fn, "Environment", "Variables", "DATABASE_URL"));
  const makesRoles = ownFunctions(template).some(
    ({ properties }) => at(properties, "Environment", "Variables", "BELFRY_ADMIN_DATABASE_URL") !== undefined,
  );
  if (!makesRoles) return [];
  return ofType(template, "AWS::Lambda::Url").flatMap(({ properties }) => {
    const fn = byId(template, referenceOf(properties["TargetFunctionArn"]));
    if (fn === null || urlOf(fn.properties).startsWith("postgresql://belfry_api@")) return [];
    return [{ resource: fn.id, detail: `DATABASE_URL ${urlOf(fn.properties)}` }];
  });
}

const isMigration = (id: string): boolean => /MigrationMigrate/.test(id);

const everyReplica = (properties: unknown, ...path: readonly string[]): boolean => {
  const replicas = at(properties, "Replicas");
  return Array.isArray(replicas) && replicas.every((replica) => at(replica, ...path) === true);
};

const share = 0.6;
/** Two scheduler tasks overlap while one ends and the next starts. */
const tasksAtOnce = 2;

function connections(template: Template): readonly Finding[] {
  const max = at(template.Metadata, "Belfry", "MaxConnections");
  if (typeof max !== "number") return [];
  const byFunction = ofType(template, "AWS::Lambda::EventSourceMapping").map(({ properties }) => {
    const fn = byId(template, referenceOf(properties["FunctionName"]));
    const variables = at(fn?.properties, "Environment", "Variables");
    const pool = Number(at(variables, "BELFRY_POOL_SIZE") ?? 1);
    const lane = at(variables, "BELFRY_LANE");
    return {
      name: typeof lane === "string" ? lane : "dead letters",
      count: Number(at(properties, "ScalingConfig", "MaximumConcurrency") ?? 1_000) * pool,
    };
  });
  const tasks = ofType(template, "AWS::ECS::TaskDefinition").map(({ properties }) => ({
    name: "tasks",
    count: tasksAtOnce * taskPool(properties),
  }));
  const api = at(template.Metadata, "Belfry", "ApiConnections");
  if (typeof api !== "number" && ofType(template, "AWS::Lambda::Url").length > 0) {
    return [
      { resource: "(template)", detail: "the connections of the API are not counted: Metadata.Belfry.ApiConnections" },
    ];
  }
  const all = [...byFunction, ...tasks, { name: "API", count: Number(api ?? 0) }];
  const sum = all.reduce((total, { count }) => total + count, 0);
  if (sum <= Math.floor(share * max)) return [];
  const parts = all.map(({ name, count }) => `${name} ${count}`).join(", ");
  return [{ resource: "(template)", detail: `${sum} of ${max} (${parts})` }];
}

function taskPool(properties: Readonly<Record<string, unknown>>): number {
  const containers = Array.isArray(properties["ContainerDefinitions"]) ? properties["ContainerDefinitions"] : [];
  const variables = containers.flatMap((container: unknown) => {
    const environment = at(container, "Environment");
    return Array.isArray(environment) ? environment.filter(isObject) : [];
  });
  return Number(variables.find((each) => each["Name"] === "BELFRY_POOL_SIZE")?.["Value"] ?? 1);
}

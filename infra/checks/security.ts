import { type Check, ofEach } from "./check.ts";
import { isThroughService, launchedTasks } from "./processes.ts";
import { at, isObject, listAt, ofType, ownFunctions, referenceOf, type Template } from "./template.ts";

export const securityChecks: readonly Check[] = [
  {
    id: "pass-role",
    rule: "roles are passed to one service, and only roles that are named",
    find: (template) =>
      statements(template)
        .filter(({ statement }) => actionsOf(statement).some((action) => /^iam:(PassRole|\*)$/.test(action)))
        .filter(
          ({ statement }) => !namesService(statement) || JSON.stringify(at(statement, "Resource")).includes('"*"'),
        )
        .map(({ id }) => ({ resource: id, detail: "iam:PassRole without named roles or iam:PassedToService" })),
  },
  {
    id: "own-source",
    rule: "a rule's or a task's role is given only for what is of this account, or others could have it used",
    find: (template) =>
      takenFor(template)
        .filter(({ trust }) => at(trust, "Condition", "StringEquals", "aws:SourceAccount") === undefined)
        .map(({ id }) => ({ resource: id, detail: "trusts a service without aws:SourceAccount" })),
  },
  {
    id: "run-task",
    rule: "tasks are started of one definition and in one cluster, both named, and of each of its revisions: a deployment replaces them",
    find: (template) =>
      statements(template)
        .filter(({ statement }) => actionsOf(statement).some((action) => /^ecs:(RunTask|\*)$/.test(action)))
        .flatMap(({ id, statement }) => {
          const resource = JSON.stringify(at(statement, "Resource"));
          const isAny =
            resource.includes('"*"') || at(statement, "Condition", "ArnEquals", "ecs:cluster") === undefined;
          return [
            ...(isAny ? ["ecs:RunTask of any task or in any cluster"] : []),
            ...(/:task-definition\/\w+:\*"/.test(resource) ? [] : ["ecs:RunTask of one revision"]),
          ].map((detail) => ({ resource: id, detail }));
        }),
  },
  {
    id: "seal-keys",
    rule: "a key that jobs are sealed by decrypts only for what runs a lane of them, and only by its own name",
    find: (template) => {
      const keys = new Set(ownFunctions(template).flatMap(({ properties }) => keysOf(properties)));
      return statements(template)
        .filter(({ statement }) => actionsOf(statement).some((action) => /^kms:(Decrypt|\*)$/.test(action)))
        .filter(({ statement }) => !isThroughService(statement))
        .filter(({ statement }) => resourcesOf(statement).some((each) => each === '"*"' || keys.has(each)))
        .flatMap(({ id, statement }) => {
          const name = at(statement, "Condition", "StringEquals", "kms:EncryptionContext:belfry:seal");
          const runsHandlers = /Lane|JobsTaskRole|SchedulerTaskRole/.test(id);
          return [
            ...(typeof name === "string" ? [] : ["decrypts what any name has sealed"]),
            ...(runsHandlers ? [] : ["decrypts, and runs no handler"]),
          ].map((detail) => ({ resource: id, detail }));
        });
    },
  },
  {
    id: "signed-url",
    rule: "a function URL answers only requests that IAM let through",
    find: ofEach("AWS::Lambda::Url", ({ properties: { AuthType: type } }) =>
      type === "AWS_IAM" ? null : `AuthType ${String(type)}`,
    ),
  },
  {
    id: "log-retention",
    rule: "a log group says how long it keeps its lines: by default it would be for ever",
    find: ofEach("AWS::Logs::LogGroup", ({ properties }) =>
      typeof properties["RetentionInDays"] === "number" ? null : "no RetentionInDays",
    ),
  },
  {
    id: "zone-names",
    rule: "subnets are in zones of the stack's own region; a made-up name means that a look-up was never committed",
    find: ofEach("AWS::EC2::Subnet", ({ properties: { AvailabilityZone: zone } }, template) =>
      typeof zone !== "string" || isZoneOf(zone, at(template.Metadata, "Belfry", "Region"))
        ? null
        : `AvailabilityZone ${zone}`,
    ),
  },
];

/** What `BELFRY_SEALS` of a process refers to, as a policy would. */
function keysOf(properties: unknown): readonly string[] {
  const value = at(properties, "Environment", "Variables", "BELFRY_SEALS");
  if (typeof value === "string") return [...value.matchAll(/"(arn:[^"]+)"/g)].map(([, arn]) => JSON.stringify(arn));
  return listAt(value, "Fn::Join")
    .flatMap((part) => (Array.isArray(part) ? part.filter(isObject) : []))
    .map((part) => JSON.stringify(part));
}

const resourcesOf = (statement: unknown): readonly string[] =>
  [at(statement, "Resource")].flat().map((each) => JSON.stringify(each));

/** Where the stack does not say its region, a name can still be none of any region. */
function isZoneOf(zone: string, region: unknown): boolean {
  if (typeof region === "string") return new RegExp(`^${region}[a-z]$`).test(zone);
  return /^[a-z]{2}(-[a-z]+)+-\d[a-z]$/.test(zone);
}

function statements(template: Template): readonly { id: string; statement: unknown }[] {
  const policies = ofType(template, "AWS::IAM::Policy").flatMap(({ id, properties }) =>
    listAt(properties, "PolicyDocument", "Statement").map((statement) => ({ id, statement })),
  );
  const inline = ofType(template, "AWS::IAM::Role").flatMap(({ id, properties }) =>
    listAt(properties, "Policies").flatMap((policy) =>
      listAt(policy, "PolicyDocument", "Statement").map((statement) => ({ id, statement })),
    ),
  );
  return [...policies, ...inline];
}

/** What rules and tasks take their roles by. ECS's own role of a task, which fetches its image, is not among them. */
function takenFor(template: Template): readonly { id: string; trust: unknown }[] {
  const ofTasks = new Set([
    ...ofType(template, "AWS::ECS::TaskDefinition").map(({ properties }) => referenceOf(properties["TaskRoleArn"])),
    ...launchedTasks(template).map(({ role }) => referenceOf(role)),
  ]);
  return ofType(template, "AWS::IAM::Role").flatMap(({ id, properties }) =>
    listAt(properties, "AssumeRolePolicyDocument", "Statement")
      .filter((trust) => at(trust, "Principal", "Service") === "events.amazonaws.com" || ofTasks.has(id))
      .map((trust) => ({ id, trust })),
  );
}

const actionsOf = (statement: unknown): readonly string[] => [at(statement, "Action")].flat().map(String);

const namesService = (statement: unknown): boolean =>
  at(statement, "Condition", "StringEquals", "iam:PassedToService") !== undefined;

/** Compares every resource and property that was deployed with the template: what an emulator drops would else be thought tested. */
import { byId, ofType, type Template } from "../../infra/checks/template.ts";
import type { Aws } from "../../src/aws/aws-call.ts";
import { physicalIds } from "./deployed.ts";
import { described } from "./described.ts";
import { type Difference, differences } from "./differences.ts";
import { dropped, unread } from "./gaps.ts";

/** What the emulator cannot do at all, and what this step does instead. */
export const substitutes: readonly string[] = [
  "it starts no ECS tasks: a wake is played with the deployed task definition's command and environment",
  "it refuses alarms on metric math: this stage chooses none for those",
  "stages small, dev, smoke and prod: no engine has accepted their templates; cfn-lint holds them against the registry's schemas",
];

type Ids = ReadonlyMap<string, string>;

export interface Audit {
  readonly resources: number;
  readonly properties: number;
  readonly differences: readonly Difference[];
  /** Types of which nothing was read back. */
  readonly unread: readonly string[];
}

export async function audit(aws: Aws, template: Template): Promise<Audit> {
  const ids = await physicalIds(aws);
  const seen = await Promise.all(
    Object.entries(template.Resources).map(async ([id, { Type, Properties }]) => {
      const found = await described(aws, Type, { physicalId: ids.get(id) ?? "", properties: Properties ?? {}, ids });
      return { id, type: Type, properties: Properties ?? {}, found };
    }),
  );
  const compared = seen.flatMap(({ found, ...resource }) =>
    found === null ? [] : [differences({ ...resource, found })],
  );
  return {
    resources: compared.length,
    properties: compared.reduce((sum, { properties }) => sum + properties, 0),
    differences: compared.flatMap((each) => each.differences),
    unread: [...new Set(seen.filter(({ found }) => found === null).map(({ type }) => type))].toSorted(),
  };
}

export async function describeTask(aws: Aws, arn: string): Promise<Readonly<Record<string, unknown>>> {
  const { taskDefinition } = await aws.json<{ taskDefinition: Record<string, unknown> }>(
    "ecs",
    "AmazonEC2ContainerServiceV20141113.DescribeTaskDefinition",
    { taskDefinition: arn },
  );
  return taskDefinition;
}

/**
 * The lists of gaps can neither grow nor grow stale unseen.
 * @throws Error naming every difference that is no known gap, and every known gap that is none any more.
 */
export function judge({ differences: found, unread: types }: Audit): void {
  const seen = new Set(found.map(({ field }) => field));
  const lines = [
    ...found
      .filter(({ field }) => dropped[field] === undefined)
      .map((each) => `${each.field} of ${each.resource}: wanted ${show(each.wanted)}, found ${show(each.found)}`),
    ...Object.keys(dropped).flatMap((field) =>
      seen.has(field) ? [] : [`${field} is no gap any more: take it out of dropped`],
    ),
    ...types.filter((type) => unread[type] === undefined).map((type) => `${type} is not read back`),
    ...Object.keys(unread).flatMap((type) => (types.includes(type) ? [] : [`${type} is read back or not there`])),
  ];
  if (lines.length > 0) throw new Error(`the deployed stack is not its template:\n${lines.join("\n")}`);
}

const show = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 200);

/** The physical id of the only resource of a type whose logical id matches. */
export function idOf(template: Template, ids: Ids, type: string, pattern: RegExp): string {
  const [found, ...others] = ofType(template, type).filter(({ id }) => pattern.test(id));
  if (found === undefined || others.length > 0) throw new Error(`the template has not exactly one ${type} ${pattern}`);
  const physical = byId(template, found.id) === null ? undefined : ids.get(found.id);
  if (physical === undefined) throw new Error(`${found.id} was not deployed`);
  return physical;
}

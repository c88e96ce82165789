import { at, isObject, type Template } from "./template.ts";

export interface StackTemplate {
  readonly path: string;
  readonly stackName: string;
  /** Undefined where it is wherever it is deployed. */
  readonly region: string | undefined;
  readonly template: Template;
  /** Where a nested stack stands. */
  readonly nested: Nested | undefined;
}

/** A nested stack is a resource of its parent, which gives it parameters and reads its outputs. */
export interface Nested {
  readonly path: string;
  /** Of the nested stack, in the parent. */
  readonly logicalId: string;
}

/** What stacks hand each other, by the reference to it. */
type Handed = ReadonlyMap<string, unknown>;
type IdIn = (path: string, id: string) => string;

/**
 * The template of a stack with what others of the app hand it, nested stacks at any depth among them: their networks are
 * beside its own resources, under ids that begin with their stack. What no stack of the app hands out stays as it is.
 */
export function linkStacks(own: StackTemplate, others: readonly StackTemplate[]): Template {
  const idIn: IdIn = (path, id) => (path === own.path ? id : `${path}/${id}`);
  const all = [own, ...others].map((stack) => ({ ...stack, template: named(stack, idIn) }));
  const resources = Object.assign({}, ...all.map(({ template }) => template.Resources)) as Template["Resources"];
  const handed = new Map(all.flatMap((stack) => [...outputsOf(stack), ...exchanged(stack, resources, idIn)]));
  const kept = Object.entries(resources).filter(
    ([id, { Type }]) => Object.hasOwn(own.template.Resources, id) || Type.startsWith("AWS::EC2::"),
  );
  return { ...own.template, Resources: resolved(Object.fromEntries(kept), handed) as Template["Resources"] };
}

const outputsOf = ({ stackName, region, template: { Outputs = {} } }: StackTemplate) =>
  Object.entries(Outputs).flatMap(([OutputName, output]) => [
    [keyOf({ "Fn::ImportValue": at(output, "Export", "Name") }), at(output, "Value")] as const,
    [
      keyOf({ "Fn::GetStackOutput": { OutputName, StackName: stackName, Region: region } }),
      at(output, "Value"),
    ] as const,
  ]);

/** What a nested stack is given by its parent, and what it puts out for it. */
function exchanged({ path, nested, template }: StackTemplate, resources: Template["Resources"], idIn: IdIn) {
  if (nested === undefined) return [];
  const inParent = idIn(nested.path, nested.logicalId);
  const given = Object.entries(at(resources[inParent], "Properties", "Parameters") ?? {});
  return [
    ...given.map(([name, value]) => [keyOf({ Ref: idIn(path, name) }), value] as const),
    ...Object.entries(template.Outputs ?? {}).map(
      ([name, output]) => [keyOf({ "Fn::GetAtt": [inParent, `Outputs.${name}`] }), at(output, "Value")] as const,
    ),
  ];
}

/** One text for one reference, wherever it stands. */
function keyOf(reference: Readonly<Record<string, unknown>>): string {
  const output = reference["Fn::GetStackOutput"];
  if (output === undefined) return JSON.stringify(reference);
  const region = at(output, "Region");
  const place = typeof region === "string" ? region : "its own region";
  return `output ${String(at(output, "StackName"))} ${String(at(output, "OutputName"))} of ${place}`;
}

/** Every id gets the stack's name, because two stacks may have resources and parameters of one id. */
function named({ path, template }: StackTemplate, idIn: IdIn): Template {
  const isOwn = (id: unknown): id is string =>
    typeof id === "string" && (Object.hasOwn(template.Resources, id) || Object.hasOwn(template.Parameters ?? {}, id));
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed);
    if (!isObject(value)) return value;
    const { Ref: ref, "Fn::GetAtt": attribute } = value;
    if (isOwn(ref)) return { Ref: idIn(path, ref) };
    if (Array.isArray(attribute) && isOwn(attribute[0]))
      return { "Fn::GetAtt": [idIn(path, attribute[0]), attribute[1]] };
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, renamed(each)]));
  };
  const resources = Object.entries(template.Resources).map(([id, each]) => [idIn(path, id), renamed(each)]);
  return {
    ...template,
    Outputs: renamed(template.Outputs ?? {}),
    Resources: Object.fromEntries(resources),
  } as Template;
}

function resolved(value: unknown, handed: Handed): unknown {
  if (Array.isArray(value)) return value.map((each) => resolved(each, handed));
  if (!isObject(value)) return value;
  const key = Object.keys(value).length === 1 ? keyOf(value) : null;
  if (key !== null && handed.has(key)) return resolved(handed.get(key), handed);
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, resolved(each, handed)]));
}

import { at, isObject, type Template } from "./template.ts";

/** A stack of the app. */
export interface StackTemplate {
  readonly path: string;
  readonly stackName: string;
  /** Undefined where it is wherever it is deployed. */
  readonly region: string | undefined;
  readonly template: Template;
}

/** Where a nested stack stands: what its parent gives to it are its parameters. */
export interface Nested {
  /** The parent's path. */
  readonly path: string;
  /** Of the nested stack, in the parent. */
  readonly logicalId: string;
}

/** What stacks put out, by what another one writes to have it. */
type Outputs = ReadonlyMap<string, unknown>;

/**
 * A template with what it imports from other stacks of the app: their networks are beside its own resources, under ids that
 * begin with their stack; so are those of the stack that it is nested in. What no stack of the app puts out stays as it is.
 */
export function linkStacks(own: Template, others: readonly StackTemplate[], nested?: Nested): Template {
  const apart = others.map(({ path, template, ...stack }) => ({ ...stack, template: named(template, path) }));
  const parent = apart.map(({ template }) => template.Resources[`${nested?.path}/${nested?.logicalId}`]);
  const given = parent.flatMap((each) => Object.entries(at(each, "Properties", "Parameters") ?? {}));
  const outputs = new Map([
    ...given.map(([name, value]) => [parameterName(name), value] as const),
    ...apart.flatMap(({ template: { Outputs = {} }, stackName, region }) =>
      Object.entries(Outputs).flatMap(([OutputName, output]) => [
        [importName(at(output, "Export", "Name")), at(output, "Value")] as const,
        [outputName({ OutputName, StackName: stackName, Region: region }), at(output, "Value")] as const,
      ]),
    ),
  ]);
  const networks = apart.flatMap(({ template: { Resources } }) =>
    Object.entries(Resources).filter(([, { Type }]) => Type.startsWith("AWS::EC2::")),
  );
  const all = { ...Object.fromEntries(networks), ...own.Resources };
  return { ...own, Resources: imported(all, outputs) as Template["Resources"] };
}

const parameterName = (name: unknown): string => `parameter ${String(name)}`;
const importName = (name: unknown): string => `export ${JSON.stringify(name)}`;
const outputName = (of: unknown): string =>
  `output ${["StackName", "OutputName"].map((field) => String(at(of, field))).join(" ")} of ${regionOf(at(of, "Region"))}`;
const regionOf = (region: unknown): string => (typeof region === "string" ? region : "its own region");

/** Every id gets the stack's name, because two stacks may have resources of one id. */
function named(template: Template, stack: string): Template {
  const isOwn = (id: unknown): id is string => typeof id === "string" && Object.hasOwn(template.Resources, id);
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed);
    if (!isObject(value)) return value;
    const { Ref: ref, "Fn::GetAtt": attribute } = value;
    if (isOwn(ref)) return { Ref: `${stack}/${ref}` };
    if (Array.isArray(attribute) && isOwn(attribute[0]))
      return { "Fn::GetAtt": [`${stack}/${attribute[0]}`, attribute[1]] };
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, renamed(each)]));
  };
  const resources = Object.entries(template.Resources).map(([id, each]) => [`${stack}/${id}`, renamed(each)]);
  return {
    ...template,
    Outputs: renamed(template.Outputs ?? {}),
    Resources: Object.fromEntries(resources),
  } as Template;
}

function imported(value: unknown, outputs: Outputs): unknown {
  if (Array.isArray(value)) return value.map((each) => imported(each, outputs));
  if (!isObject(value)) return value;
  const { Ref: parameter, "Fn::ImportValue": name, "Fn::GetStackOutput": output } = value;
  const [wanted] = [
    ...(parameter === undefined ? [] : [parameterName(parameter)]),
    ...(name === undefined ? [] : [importName(name)]),
    ...(output === undefined ? [] : [outputName(output)]),
  ];
  if (wanted !== undefined && outputs.has(wanted)) return imported(outputs.get(wanted), outputs);
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, imported(each, outputs)]));
}

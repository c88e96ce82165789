/** A synthesized template as data, and how to look things up in it. */
export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
  readonly Outputs?: Readonly<Record<string, unknown>>;
  readonly Parameters?: Readonly<Record<string, unknown>>;
}

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: string | readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly CreationPolicy?: unknown;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

export interface NamedResource {
  readonly id: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly dependsOn: readonly string[];
}

export const ofType = (template: Template, type: string): readonly NamedResource[] =>
  Object.entries(template.Resources)
    .filter(([, resource]) => resource.Type === type)
    .map(([id, resource]) => found(id, resource));

export function byId(template: Template, id: string | null): NamedResource | null {
  const resource = id === null ? undefined : template.Resources[id];
  return resource === undefined || id === null ? null : found(id, resource);
}

const found = (id: string, { Type: type, Properties, DependsOn = [] }: TemplateResource): NamedResource => ({
  id,
  type,
  properties: Properties ?? {},
  dependsOn: typeof DependsOn === "string" ? [DependsOn] : DependsOn,
});

/** The construct that a resource comes from, where the synthesis wrote it down; else its logical id. */
export function pathOf(template: Template, id: string): string {
  const path = template.Resources[id]?.Metadata?.["aws:cdk:path"];
  return typeof path === "string" ? path : id;
}

/** Each stage of a stack that has several: its own resources and those of no stage. Its metadata are then the stage's own. */
export function apart(template: Template): readonly Template[] {
  const stages = Object.entries(at(template.Metadata, "Belfry") ?? {});
  if (stages.length === 0) return [template];
  return stages.map(([path, Belfry]) => {
    const others = stages.map(([other]) => `${other}/`).filter((other) => other !== `${path}/`);
    const isOthers = (id: string): boolean => others.some((other) => pathOf(template, id).startsWith(other));
    const own = Object.entries(template.Resources).filter(([id]) => !isOthers(id));
    return { ...template, Resources: Object.fromEntries(own), Metadata: { ...template.Metadata, Belfry } };
  });
}

/** What a `Ref` or `Fn::GetAtt` names; null for anything else. */
export function referenceOf(value: unknown): string | null {
  if (!isObject(value)) return null;
  if (typeof value["Ref"] === "string") return value["Ref"];
  const attribute = value["Fn::GetAtt"];
  if (Array.isArray(attribute)) return String(attribute[0]);
  return typeof attribute === "string" ? (attribute.split(".")[0] ?? null) : null;
}

/** The value at a path of names, or undefined where it leads nowhere. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current: unknown = value;
  for (const name of path) current = isObject(current) ? current[name] : undefined;
  return current;
}

export const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const list = at(value, ...path);
  return Array.isArray(list) ? list : [];
};

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The functions that run our code, by the variable that all of them have; the library has some of its own. */
export const ownFunctions = (template: Template): readonly NamedResource[] =>
  ofType(template, "AWS::Lambda::Function").filter(
    ({ properties }) => at(properties, "Environment", "Variables", "BELFRY_STAGE") !== undefined,
  );

import type { Template, TemplateResource } from "../../../infra/checks/template.ts";

/** One way to get a deployment wrong, and the rule that must refuse it. */
export interface Fault {
  /** A sentence about what was done. */
  readonly name: string;
  /** Of `infra/checks`, or of cdk-nag (`AwsSolutions-...`). */
  readonly refusedBy: string;
  /** Of the construct that is refused: a part of its path. */
  readonly at?: string;
  /** What the refusal must say, for example the path that is missing. */
  readonly saying?: RegExp;
  /** The way out of the template that is planted in. Default: none for IPv4, as in the small stages. `gateway` has a service for its passes. */
  readonly ipv4?: "none" | "instance" | "gateway";
  /** Changes a correct template. It is the test's own copy. */
  readonly plant: (template: EditableTemplate) => void;
}

export interface EditableTemplate extends Template {
  readonly Resources: Record<string, EditableResource>;
  Metadata?: Record<string, unknown>;
}

export interface EditableResource extends TemplateResource {
  Properties?: Record<string, unknown>;
  DependsOn?: string[];
  CreationPolicy?: unknown;
  DeletionPolicy?: string;
}

/** The first resource of a type whose id matches. @throws Error when there is none: a fault that plants nothing proves nothing. */
export function first(
  template: EditableTemplate,
  type: string,
  id = /^/,
): Required<Pick<EditableResource, "Properties">> {
  const [resource] = Object.entries(template.Resources)
    .filter(([name, each]) => each.Type === type && id.test(name))
    .map(([, each]) => each);
  if (resource === undefined) throw new Error(`the template has no ${type} like ${id}`);
  resource.Properties ??= {};
  return resource as Required<Pick<EditableResource, "Properties">>;
}

/** The object at a path, to be changed. @throws Error when it leads nowhere. */
export function inside(value: unknown, ...path: readonly (string | number)[]): Record<string, unknown> {
  let current = value;
  for (const name of path) current = (current as Record<string, unknown>)[name];
  if (typeof current !== "object" || current === null) throw new Error(`nothing at ${path.join(".")}`);
  return current as Record<string, unknown>;
}

type Plant = Fault["plant"];

/** Sets a property of the first resource of a type, by its path with dots; `undefined` takes it away. */
export const sets =
  (type: string, path: string, value: unknown, id?: RegExp): Plant =>
  (template) => {
    const names = path.split(".");
    const last = names.pop() ?? "";
    const at = inside(first(template, type, id).Properties, ...names);
    if (value === undefined) delete at[last];
    else at[last] = value;
  };

/** Takes the resources away whose id matches, of one type or of all. */
export const removes =
  (id: RegExp, type?: string): Plant =>
  (template) => {
    for (const [name, { Type }] of Object.entries(template.Resources)) {
      if (id.test(name) && (type ?? Type) === Type) delete template.Resources[name];
    }
  };

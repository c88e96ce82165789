import { type NamedResource, ofType, type Template } from "./template.ts";

/** One assertion about a template, for what no other tool looks at. */
export interface Check {
  /** Stable: what a fault names as the rule that refuses it. */
  readonly id: string;
  /** What must hold, and what to do where it does not. */
  readonly rule: string;
  readonly find: (template: Template) => readonly Finding[];
}

export interface Finding {
  readonly resource: string;
  readonly detail: string;
}

/** Looks at each resource of a type. @param faultsOf what is wrong with one: null, or an empty list, for nothing. */
export const ofEach =
  (type: string, faultsOf: (resource: NamedResource, template: Template) => string | readonly string[] | null) =>
  (template: Template): readonly Finding[] =>
    ofType(template, type).flatMap((resource) =>
      [faultsOf(resource, template) ?? []].flat().map((detail) => ({ resource: resource.id, detail })),
    );

import type { Template } from "./template.ts";

/** One assertion about a template, for what no other tool looks at. */
export interface Check {
  /** Stable: what a fault names as the rule that refuses it. */
  readonly id: string;
  /** What must hold, and what to do where it does not. */
  readonly rule: string;
  readonly find: (template: Template) => readonly Finding[];
}

export interface Finding {
  /** The logical id of the resource. */
  readonly resource: string;
  /** Which value it has. */
  readonly detail: string;
}

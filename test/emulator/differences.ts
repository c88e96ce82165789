import { isObject } from "../../infra/checks/template.ts";

export interface Difference {
  /** The resource's type and the path of the property, without positions. */
  readonly field: string;
  readonly resource: string;
  readonly wanted: unknown;
  readonly found: unknown;
}

interface Compared {
  readonly id: string;
  readonly type: string;
  readonly properties: unknown;
  /** What the service says about it. */
  readonly found: unknown;
}

interface Differences {
  /** Values that were looked at. */
  readonly properties: number;
  readonly differences: readonly Difference[];
}

/** Every value of the template must be in what the service describes, under the same name. Names differ in case only. */
export function differences({ id, type, properties, found }: Compared): Differences {
  const leaves = leavesOf(properties, found, type);
  return {
    properties: leaves.length,
    differences: leaves
      .filter((leaf) => !holds(leaf.wanted, leaf.found))
      .map(({ field, wanted, found: value }) => ({ field, resource: id, wanted, found: value })),
  };
}

interface Leaf {
  readonly field: string;
  readonly wanted: unknown;
  readonly found: unknown;
}

function leavesOf(wanted: unknown, found: unknown, field: string): readonly Leaf[] {
  if (isIntrinsic(wanted) || (!isObject(wanted) && !Array.isArray(wanted))) return [{ field, wanted, found }];
  if (!Array.isArray(wanted)) {
    return Object.entries(wanted).flatMap(([name, value]) => leavesOf(value, named(found, name), `${field}.${name}`));
  }
  const list = Array.isArray(found) ? found : found === undefined ? [] : [found];
  return wanted.flatMap((each, index) =>
    leavesOf(each, list.find((other) => isSame(each, other)) ?? list[index], field),
  );
}

function named(found: unknown, name: string): unknown {
  if (!isObject(found)) return undefined;
  const key = Object.keys(found).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : found[key];
}

/** Entries of lists that have names: tags, variables, dimensions, targets. */
const isSame = (wanted: unknown, found: unknown): boolean =>
  ["Key", "Name", "Id", "AttributeName", "Sid"].some((name) => {
    const value = named(wanted, name);
    return typeof value === "string" && named(found, name) === value;
  });

/** A value that CloudFormation computes: what it became is not known here, only that there must be something. */
const isIntrinsic = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).length === 1 && /^(Ref|Fn::)/.test(Object.keys(value)[0] ?? "");

function holds(wanted: unknown, found: unknown): boolean {
  if (isIntrinsic(wanted)) return found !== undefined && found !== null && found !== "";
  // An empty value is as good as none.
  if ((wanted === "" || wanted === false) && found === undefined) return true;
  return text(found) === text(wanted);
}

/** Services answer numbers and booleans as texts, and one value as a list of one. */
function text(value: unknown): string {
  if (Array.isArray(value)) return value.map(text).join();
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

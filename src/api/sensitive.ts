import { z } from "zod";
import type { JobDefinition } from "../define/definition.ts";
import { isGraph } from "../run/run-graph.ts";
import type { Json } from "../machine/job.ts";
import type { KeptMarks } from "../insight/secrecy.ts";

export interface Hiding {
  hide(payload: unknown): unknown;
}

/** JSON Schema, as far as it says which members are marked. */
interface Marked {
  readonly sensitive?: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Marked>>;
  readonly properties?: Readonly<Record<string, Marked>>;
  readonly propertyNames?: Marked;
  /** Each counts for every member: which pattern fits is not tried. */
  readonly patternProperties?: Readonly<Record<string, Marked>>;
  readonly additionalProperties?: Marked | boolean;
  readonly items?: Marked;
  readonly prefixItems?: readonly Marked[];
  readonly anyOf?: readonly Marked[];
  readonly oneOf?: readonly Marked[];
  readonly allOf?: readonly Marked[];
}

export const hiddenText = "[hidden]";

interface OfKind {
  readonly kind: string;
  readonly schema: SensitiveSchema;
}

export class SensitiveKinds {
  readonly #all: readonly OfKind[];
  /** Of each kind that is known the schemas that mark something. */
  readonly #kinds: ReadonlyMap<string, readonly SensitiveSchema[]>;
  /** No kind marks anything: nothing is hidden. */
  readonly isNone: boolean;

  constructor(all: readonly OfKind[]) {
    this.#all = all;
    const marking = ([kind, of]: [string, readonly OfKind[]]) =>
      [kind, of.flatMap(({ schema }) => (schema.isAny ? [schema] : []))] as const;
    this.#kinds = new Map([...Map.groupBy(all, ({ kind }) => kind)].map(marking));
    this.isNone = [...this.#kinds.keys()].every((kind) => !this.has(kind));
  }

  /** And by what earlier releases marked. */
  with(kept: readonly KeptMarks[]): SensitiveKinds {
    return new SensitiveKinds([
      ...this.#all,
      ...kept.map(({ kind, marks }) => ({ kind, schema: new SensitiveSchema(marks as Marked) })),
    ]);
  }

  has(kind: string): boolean {
    return (this.#kinds.get(kind)?.length ?? 0) > 0;
  }

  /** Null: nothing of it is hidden. Of a kind that is not known everything is: what it marked is not known either. */
  of(kind: string): Hiding | null {
    if (this.isNone) return null;
    const schemas = this.#kinds.get(kind);
    if (schemas === undefined) return hidingAll;
    if (schemas.length === 0) return null;
    return { hide: (payload) => schemas.reduce((value, schema) => schema.hide(value), payload) };
  }
}

/** Where the marks are not known. */
export const everyKindHidden: Pick<SensitiveKinds, "of"> = { of: () => hidingAll };

const hidingAll: Hiding = { hide: (payload) => (payload === null || payload === undefined ? payload : hiddenText) };

/** By the zod schemas of these definitions: `z.string().meta({ sensitive: true })`. Other libraries cannot mark. */
export const sensitiveKinds = (definitions: Iterable<JobDefinition>): SensitiveKinds =>
  new SensitiveKinds(Array.from(definitions).flatMap(ofDefinition));

/** What is kept when a release with these definitions is installed. */
export const marksToKeep = (definitions: Iterable<JobDefinition>): readonly KeptMarks[] =>
  Array.from(definitions)
    .flatMap(ofDefinition)
    .map(({ kind, schema }) => ({ kind, marks: schema.kept() }));

/** The tasks of a graph are given its input, so their results and errors may quote it. */
function ofDefinition(definition: JobDefinition): readonly OfKind[] {
  const schema = marksOf(definition);
  const tasks = schema.isAny && isGraph(definition) ? (definition.makes ?? []) : [];
  const whole = new SensitiveSchema({ sensitive: true });
  return [{ kind: definition.id, schema }, ...tasks.map(({ id }) => ({ kind: id, schema: whole }))];
}

function marksOf({ schema, seal }: JobDefinition): SensitiveSchema {
  if (seal !== null) return new SensitiveSchema({ sensitive: true });
  if (!(schema instanceof z.core.$ZodType)) return new SensitiveSchema({});
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" });
  return new SensitiveSchema(json as Marked);
}

export class SensitiveSchema {
  readonly #root: Marked;
  /** Marked, or with a marked part at any depth. */
  readonly #leading: ReadonlySet<Marked>;

  constructor(root: Marked) {
    this.#root = root;
    this.#leading = this.#findLeading();
  }

  get isAny(): boolean {
    return this.#leading.has(this.#root);
  }

  /** Only what leads to marks, so that releases which differ in other things keep the same. */
  kept(): Json {
    return this.isAny ? (this.#kept(this.#root) as Json) : {};
  }

  #kept(node: Marked): unknown {
    if (this.#isMarked(node)) return { sensitive: true };
    const part = (each: Marked | boolean | undefined) =>
      typeof each === "object" && this.#leading.has(each) ? this.#kept(each) : undefined;
    const list = (all: readonly Marked[] | undefined) => all?.flatMap((each) => part(each) ?? []);
    const others = part(node.additionalProperties);
    const named = (all: Readonly<Record<string, Marked>> = {}, plain?: object) =>
      Object.fromEntries(Object.entries(all).map(([name, each]) => [name, part(each) ?? plain]));
    return {
      $ref: node.$ref,
      $defs: node.$defs && named(node.$defs),
      // A member that is named is not one of the others.
      properties: node.properties && named(node.properties, others === undefined ? undefined : {}),
      additionalProperties: others,
      patternProperties: node.patternProperties && named(node.patternProperties),
      items: part(node.items),
      prefixItems: node.prefixItems?.map((each) => part(each) ?? {}),
      anyOf: list(node.anyOf),
      oneOf: list(node.oneOf),
      allOf: list(node.allOf),
    };
  }

  /** A payload, or a part of it, without what is marked; a value of another form than the schema's is hidden as a whole. */
  hide(payload: unknown): unknown {
    return this.#without(payload, [this.#root]);
  }

  #without(value: unknown, schemas: readonly Marked[]): unknown {
    const own = this.#described(schemas).filter((each) => this.#leading.has(each));
    if (own.length === 0 || value === null || value === undefined) return value;
    if (own.some((each) => this.#isMarked(each)) || typeof value !== "object") return hiddenText;
    const part = (each: unknown, schemasOf: (schema: Marked) => readonly Marked[]) =>
      this.#without(each, own.flatMap(schemasOf));
    if (Array.isArray(value)) {
      if (!own.some(isOfArray)) return hiddenText;
      return value.map((each, index) => part(each, (schema) => itemAt(schema, index)));
    }
    if (!own.some(isOfObject)) return hiddenText;
    const members = Object.entries(value).map(([name, each]) => [name, part(each, (schema) => memberAt(schema, name))]);
    return Object.fromEntries(members);
  }

  /** Names of members that are marked hide the members too. */
  #isMarked({ sensitive, propertyNames }: Marked): boolean {
    return sensitive === true || (propertyNames !== undefined && this.#leading.has(propertyNames));
  }

  /** These and all that they say of the same value, by reference or as alternatives. */
  #described(schemas: readonly Marked[]): readonly Marked[] {
    const all = new Set(schemas);
    // The loop also visits what is added during it.
    for (const each of all) for (const same of this.#sameValue(each)) all.add(same);
    return [...all];
  }

  #sameValue({ $ref, anyOf = [], oneOf = [], allOf = [] }: Marked): readonly Marked[] {
    return [...($ref === undefined ? [] : [this.#target($ref)]), ...anyOf, ...oneOf, ...allOf];
  }

  /** What is recursive or has an id is written once and named: `#`, `#/$defs/NAME`. What is not found is hidden. */
  #target(ref: string): Marked {
    if (ref === "#") return this.#root;
    const name = ref.replace("#/$defs/", "").replaceAll("~1", "/").replaceAll("~0", "~");
    return this.#root.$defs?.[name] ?? { sensitive: true };
  }

  #findLeading(): ReadonlySet<Marked> {
    const leadsTo = new Map<Marked, readonly Marked[]>();
    const open = [this.#root];
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      if (leadsTo.has(each)) continue;
      const next = [...this.#sameValue(each), ...partsOf(each)];
      leadsTo.set(each, next);
      open.push(...next);
    }
    const leading = new Set([...leadsTo.keys()].filter(({ sensitive }) => sensitive === true));
    // Repeated until no further one does: schemas may be recursive.
    for (let before = -1; before < leading.size;) {
      before = leading.size;
      for (const [each, next] of leadsTo) if (next.some((one) => leading.has(one))) leading.add(each);
    }
    return leading;
  }
}

const isOfArray = ({ items, prefixItems }: Marked): boolean => items !== undefined || prefixItems !== undefined;

const isOfObject = ({ properties, patternProperties, additionalProperties }: Marked): boolean =>
  properties !== undefined || patternProperties !== undefined || typeof additionalProperties === "object";

function partsOf(schema: Marked): readonly Marked[] {
  const {
    properties = {},
    patternProperties = {},
    propertyNames,
    additionalProperties,
    items,
    prefixItems = [],
  } = schema;
  const alone = [propertyNames, additionalProperties, items].filter((each) => typeof each === "object");
  return [...Object.values(properties), ...Object.values(patternProperties), ...prefixItems, ...alone];
}

function itemAt({ items, prefixItems = [] }: Marked, index: number): readonly Marked[] {
  const own = prefixItems[index] ?? items;
  return own === undefined ? [] : [own];
}

function memberAt(
  { properties = {}, patternProperties = {}, additionalProperties }: Marked,
  name: string,
): readonly Marked[] {
  const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  return [...Object.values(patternProperties), ...(typeof own === "object" ? [own] : [])];
}

import { z } from "zod";
import type { JobDefinition } from "../core/define/definition.ts";

/** Of each kind that marks anything: its payload's schema. */
export type SensitiveKinds = ReadonlyMap<string, SensitiveSchema>;

/** JSON Schema, as far as it says which members are marked. */
interface Marked {
  readonly sensitive?: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Marked>>;
  readonly properties?: Readonly<Record<string, Marked>>;
  readonly propertyNames?: Marked;
  readonly additionalProperties?: Marked | boolean;
  readonly items?: Marked;
  readonly prefixItems?: readonly Marked[];
  readonly anyOf?: readonly Marked[];
  readonly oneOf?: readonly Marked[];
  readonly allOf?: readonly Marked[];
}

export const hidden = "[hidden]";

/** The kinds whose zod schema marks a member: `z.string().meta({ sensitive: true })`. */
export function sensitiveKinds(definitions: Iterable<JobDefinition>): SensitiveKinds {
  const kinds = new Map<string, SensitiveSchema>();
  for (const { id, schema } of definitions) {
    if (!(schema instanceof z.core.$ZodType)) continue;
    const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" });
    const marks = new SensitiveSchema(json as Marked);
    if (marks.isAny) kinds.set(id, marks);
  }
  return kinds;
}

/** A payload's schema that hides what it marks. */
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

  /** A payload, or a part of it, without what is marked; a value of another form than the schema's is hidden as a whole. */
  hide(payload: unknown): unknown {
    return this.#without(payload, [this.#root]);
  }

  #without(value: unknown, schemas: readonly Marked[]): unknown {
    const own = this.#described(schemas).filter((each) => this.#leading.has(each));
    if (own.length === 0 || value === null || value === undefined) return value;
    if (own.some((each) => this.#isMarked(each)) || typeof value !== "object") return hidden;
    if (Array.isArray(value)) {
      if (!own.some(isOfArray)) return hidden;
      return value.map((each, index) =>
        this.#without(
          each,
          own.flatMap((schema) => itemAt(schema, index)),
        ),
      );
    }
    if (!own.some(isOfObject)) return hidden;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        name,
        this.#without(
          each,
          own.flatMap((schema) => memberAt(schema, name)),
        ),
      ]),
    );
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

const isOfObject = ({ properties, additionalProperties }: Marked): boolean =>
  properties !== undefined || typeof additionalProperties === "object";

function partsOf(schema: Marked): readonly Marked[] {
  const { properties = {}, propertyNames, additionalProperties, items, prefixItems = [] } = schema;
  const alone = [propertyNames, additionalProperties, items].filter((each) => typeof each === "object");
  return [...Object.values(properties), ...prefixItems, ...alone];
}

function itemAt({ items, prefixItems = [] }: Marked, index: number): readonly Marked[] {
  const own = prefixItems[index] ?? items;
  return own === undefined ? [] : [own];
}

function memberAt({ properties = {}, additionalProperties }: Marked, name: string): readonly Marked[] {
  const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  return typeof own === "object" ? [own] : [];
}

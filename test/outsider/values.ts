import fc from "fast-check";

/** The keywords that the document uses for what clients send. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Values of a schema, also those that no person would send: odd texts, edges of numbers, members left out. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map(valuesOf));
  const type = Array.isArray(schema.type) ? (schema.type as readonly string[])[0] : schema.type;
  switch (type) {
    case "string":
      return textsOf(schema);
    case "integer":
      return fc.integer({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 1_000 });
    case "number":
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(valuesOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: schema.maxItems ?? 4,
      });
    case "object":
      return objectsOf(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 }).map(exact);
  }
}

/** Any JSON, but integers that a double does not carry exactly: no schema can say that the API refuses those. */
const exact = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === "number" && Number.isInteger(each) && !Number.isSafeInteger(each) ? 0 : each,
  );

/** Postgres stores no NUL, which every text of the API excludes. */
const storable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

function textsOf({ pattern, format, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (format === "date-time") {
    const span = { min: new Date("2000-01-01T00:00:00Z"), max: new Date("2100-01-01T00:00:00Z"), noInvalidDate: true };
    return fc.date(span).map((date) => date.toISOString());
  }
  const fits = (text: string): boolean => text.length >= minLength && text.length <= maxLength && storable(text);
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern)).filter(fits);
  return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 40), unit: "grapheme" }).filter(fits);
}

function objectsOf(schema: Schema): fc.Arbitrary<object> {
  const { properties = {}, required = [], additionalProperties, propertyNames, maxProperties = 3 } = schema;
  const fields = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, valuesOf(each)]));
  const { minProperties = 0 } = schema;
  const own = fc
    .record(fields, { requiredKeys: [...required] })
    .filter((value) => typeof additionalProperties === "object" || Object.keys(value).length >= minProperties);
  if (typeof additionalProperties !== "object") return own;
  const more = fc.dictionary(textsOf(propertyNames ?? {}), valuesOf(additionalProperties), { maxKeys: maxProperties });
  return fc.tuple(more, own).map(([others, mine]) => ({ ...others, ...mine }));
}

/** One member or value replaced by something of another type, or a member that no one knows. */
export const spoiled = (value: unknown): fc.Arbitrary<unknown> =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? fc.constantFrom(null, [], {}, 7, "x", true)
    : fc.oneof(
        fc.constant({ ...value, notAMember: 1 }),
        ...Object.keys(value).map((name) =>
          fc
            .constantFrom(null, [[]], { a: 1 }, Number.MAX_VALUE, -1, "\0", "\ud800")
            .map((odd) => ({ ...value, [name]: odd })),
        ),
      );

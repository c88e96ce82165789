/** The fields of a form for a payload, made from its JSON Schema. A payload that is no flat object is written as JSON. */

export interface PayloadField {
  readonly name: string;
  readonly is: "text" | "number" | "choice" | "json";
  readonly isRequired: boolean;
  /** Of a choice; JSON values as text. */
  readonly choices: readonly string[];
  readonly hint: string;
}

interface Schema {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Null for what has no fields of its own: any JSON may be written then. */
export function fieldsOf(schema: unknown): readonly PayloadField[] | null {
  const { type, properties, required = [] } = (schema ?? {}) as Schema;
  if (type !== "object" || properties === undefined) return null;
  return Object.entries(properties).map(([name, of]) => ({
    name,
    isRequired: required.includes(name),
    hint: hintOf(of),
    ...kindOf(of),
  }));
}

function kindOf({ type, enum: values, const: only }: Schema): Pick<PayloadField, "is" | "choices"> {
  const choices = values ?? (only === undefined ? (type === "boolean" ? [true, false] : []) : [only]);
  if (choices.length > 0) return { is: "choice", choices: choices.map((each) => JSON.stringify(each)) };
  if (type === "string") return { is: "text", choices: [] };
  return { is: type === "number" || type === "integer" ? "number" : "json", choices: [] };
}

const safe = Number.MAX_SAFE_INTEGER;

function hintOf({ description, format, minimum, maximum }: Schema): string {
  const from = minimum === undefined || minimum <= -safe ? "" : String(minimum);
  const to = maximum === undefined || maximum >= safe ? "" : String(maximum);
  const range = from === "" && to === "" ? [] : [`${from}…${to}`];
  return [description, format, ...range].filter((each) => each !== undefined).join(" · ");
}

/** What stands in each field, as text. */
export type Draft = Readonly<Record<string, string>>;

/** Null when the payload has members that no field shows: it is written as JSON then. */
export function draftOf(fields: readonly PayloadField[], payload: unknown): Draft | null {
  if (payload === undefined || payload === null) return {};
  if (typeof payload !== "object" || Array.isArray(payload)) return null;
  const members = Object.entries(payload);
  if (members.some(([name]) => !fields.some((field) => field.name === name))) return null;
  return Object.fromEntries(
    members.map(([name, value]) => {
      const isText = fields.find((field) => field.name === name)?.is === "text" && typeof value === "string";
      return [name, isText ? value : JSON.stringify(value)];
    }),
  );
}

/** The payload, or the fields whose text is no value. What is empty is left out; an empty text that must be there stays. */
export function payloadOf(
  fields: readonly PayloadField[],
  draft: Draft,
): { readonly payload: object; readonly wrong: readonly string[] } {
  const wrong: string[] = [];
  const members = fields.flatMap(({ name, is, isRequired }): readonly (readonly [string, unknown])[] => {
    const text = draft[name] ?? "";
    if (text === "") return is === "text" && isRequired ? [[name, ""]] : [];
    if (is === "text") return [[name, text]];
    const value = parsedJson(text);
    if (value === undefined || (is === "number" && typeof value !== "number")) wrong.push(name);
    return [[name, value]];
  });
  return { payload: Object.fromEntries(members), wrong };
}

/** Undefined for what is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

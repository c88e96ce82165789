import type { Command } from "commander";
import type { OperationName } from "../api/api.ts";
import type { Endpoint } from "../api/endpoint.ts";
import type { Parameter } from "../api/parameters.ts";
import operations from "./operations.json" with { type: "json" };
import { text } from "node:stream/consumers";
import { messageOf, wrongUsage } from "./exit.ts";

/** The parameters of an operation's query, from the schema that reads them; members of the payload have their own option. */
const fieldsOf = (operation: OperationName): readonly QueryParameter[] =>
  operationNamed(operation).query.filter(({ name }) => name !== "payload");

/** Parameters of a path and a query, by name. */
export type Values = Readonly<Record<string, string | undefined>>;

/** What the API's document says in its own terms. */
const usualWords: Values = {
  kind: "The id of the definition.",
  cursor: "The nextCursor of the page before.",
  fingerprint: "As dead-letters list shows them.",
  sort: "The order.",
};

interface Offered {
  readonly only?: readonly string[];
  readonly without?: readonly string[];
  /** What says more than the API's document. */
  readonly words?: Values;
}

/** An option for each parameter of the operation's query: for all, `only` some, or all `without` some. */
export function withQuery(
  command: Command,
  operation: OperationName,
  { only, without = [], words = {} }: Offered = {},
): Command {
  for (const { name, description, schema } of fieldsOf(operation)) {
    const text = words[name] ?? usualWords[name] ?? description;
    if (only?.includes(name) ?? !without.includes(name)) command.option(flagOf(name, schema), helpOf(text, schema));
  }
  return command;
}

/** Of the options, those that are parameters of the operation's query. What is left out has the API's default. */
export function queryIn(operation: OperationName, options: Readonly<Record<string, unknown>>): Values {
  const names = new Set(fieldsOf(operation).map(({ name }) => name));
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.has(name))) as Values;
}

function flagOf(name: string, schema: QueryParameter["schema"]): string {
  const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `--${flag} <${valueOf(name, schema)}>`;
}

function valueOf(name: string, { type, format, pattern }: QueryParameter["schema"]): string {
  if (type === "integer") return "count";
  if (type === "array") return `${name}s`;
  if (type === "boolean") return "true|false";
  if (format === "date-time") return "time";
  return typeof pattern === "string" && pattern.includes("(ms|s)") ? "duration" : name;
}

/** What it is, its values or bounds and its default, as a line of a help has them. */
function helpOf(text: string, schema: QueryParameter["schema"]): string {
  const { enum: values, items, minimum, maximum, default: usual } = schema as Schema;
  const choices = values ?? items?.enum;
  const list = schema["type"] === "array" ? ", with commas between" : "";
  const what = text.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()).replace(/\.$/, "");
  const rule = choices?.join(", ") ?? (maximum === undefined ? null : `${minimum} to ${maximum}`);
  return `${what}${list}${rule === null ? "" : `: ${rule}`}${usual === undefined ? "" : ` (default: ${usual})`}`;
}

interface Schema {
  readonly enum?: readonly string[];
  readonly items?: { readonly enum?: readonly string[] };
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number;
}

export type QueryParameter = Pick<Parameter, "name" | "description" | "schema">;

interface Operation {
  readonly method: Endpoint["method"];
  readonly path: string;
  readonly query: readonly QueryParameter[];
}

/** From the endpoints, by `node scripts/api-guide.ts`: to load them all would double the time that a command takes to start. */
export const operationNamed = (name: OperationName): Operation => operations[name] as Operation;

/** The payload of the command line as JSON; `-` reads stdin. Nothing given: no payload. @throws CliError */
export async function readPayload(argument: string | undefined): Promise<{ payload?: unknown }> {
  if (argument === undefined) return {};
  const json = argument === "-" ? await text(process.stdin) : argument;
  try {
    return { payload: JSON.parse(json) };
  } catch (error) {
    const shown = json.length > 60 ? `${json.slice(0, 60)}...` : json;
    throw wrongUsage("bad-json", `the payload is not JSON: ${shown}`, [
      messageOf(error),
      `write it in single quotes: '{"name":"Ada"}'`,
    ]);
  }
}

export interface PayloadOptions {
  readonly payload?: readonly string[];
}

/** Members of the payload that a search compares. */
export const withPayload = (command: Command): Command =>
  command.option("--payload <member=value>", "user.id=42; up to three", (text, all?: readonly string[]) => [
    ...(all ?? []),
    text,
  ]);

/** By their path. @throws CliError for what is no member and value. */
export function membersOf({ payload = [] }: PayloadOptions, prefix: "" | "payload."): Readonly<Record<string, string>> {
  const members = payload.map((text) => {
    const [, path = "", value = ""] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
    if (path !== "") return [`${prefix}${path}`, value] as const;
    throw wrongUsage("bad-payload", `--payload is ${JSON.stringify(text)}: write user.id=42`);
  });
  return Object.fromEntries(members);
}

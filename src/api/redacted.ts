import { z } from "zod";
import type { JobDefinition } from "../core/define/definition.ts";

/** Of each kind that has any: the paths of its payload that are sensitive. */
export type SensitiveKinds = ReadonlyMap<string, readonly (readonly string[])[]>;

const hidden = "[hidden]";

/** The members that a schema of zod marks: `z.string().meta({ sensitive: true })`. */
export function sensitiveKinds(definitions: Iterable<JobDefinition>): SensitiveKinds {
  const marked = [...definitions].map(({ id, schema }) => {
    if (!(schema instanceof z.ZodType)) return [id, []] as const;
    const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" });
    return [id, pathsIn(json as Marked)] as const;
  });
  return new Map(marked.filter(([, paths]) => paths.length > 0));
}

interface Marked {
  readonly sensitive?: unknown;
  readonly properties?: Readonly<Record<string, Marked>>;
  readonly items?: Marked;
  readonly additionalProperties?: Marked | boolean;
  readonly anyOf?: readonly Marked[];
  readonly oneOf?: readonly Marked[];
  readonly allOf?: readonly Marked[];
}

/** `*` stands for each item of an array and each member of a record. */
function pathsIn(schema: Marked): readonly (readonly string[])[] {
  if (schema.sensitive === true) return [[]];
  const below = (name: string, each: Marked) => pathsIn(each).map((path) => [name, ...path]);
  const { additionalProperties: others } = schema;
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => below(name, each)),
    ...(schema.items === undefined ? [] : below("*", schema.items)),
    ...(typeof others === "object" ? below("*", others) : []),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap(pathsIn),
  ];
}

type Members = Readonly<Record<string, unknown>>;

/**
 * An answer without what its kinds mark as sensitive: those members of payloads and inputs, and with them every result and
 * error text of such a kind, which may quote them. It looks at the answer itself, so that no endpoint can forget it.
 */
export function redacted(value: unknown, kinds: SensitiveKinds, kind: string | null = null): unknown {
  if (Array.isArray(value)) return value.map((each) => redacted(each, kinds, kind));
  if (typeof value !== "object" || value === null) return value;
  const members = value as Members;
  const own = kindOf(members) ?? kind;
  const paths = own === null ? undefined : kinds.get(own);
  return Object.fromEntries(
    Object.entries(members).map(([name, each]) => {
      if (name === "filter") return [name, withoutSearched(each)];
      if (name === "payload" && isHash(each)) return [name, hidden];
      if (paths === undefined) return [name, redacted(each, kinds, own)];
      if (name === "payload" || name === "input") return [name, withoutPaths(each, paths)];
      // Its stack, response and log lines may quote them as well.
      if (name === "failure") return [name, null];
      if (texts.has(name) && each !== null) return [name, textless(each)];
      return [name, redacted(each, kinds, own)];
    }),
  );
}

/** Of a payload in the audit: who guesses a secret of few values could compare. */
const isHash = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).join() === "sha256";

/** What a change of many jobs looked for may be the very value that is hidden, of whichever kind. */
function withoutSearched(filter: unknown): unknown {
  if (typeof filter !== "object" || filter === null) return filter;
  const { text, payload } = filter as { readonly text?: unknown; readonly payload?: object };
  return {
    ...filter,
    ...(text === undefined ? {} : { text: hidden }),
    ...(payload === undefined
      ? {}
      : { payload: Object.fromEntries(Object.keys(payload).map((name) => [name, hidden])) }),
  };
}

const texts = new Set(["result", "error", "errorMessage", "message", "output", "stack", "cause", "log", "sentence"]);

/** An error keeps its code, which people filter by. */
const textless = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "code" in value && "message" in value
    ? { code: value.code, message: value.message === null ? null : hidden }
    : hidden;

/** Of a job, a run or a group of failures; a schedule names it inside of `job`. */
function kindOf({ kind, job }: Members): string | null {
  if (typeof kind === "string") return kind;
  return typeof job === "object" && job !== null && "kind" in job && typeof job.kind === "string" ? job.kind : null;
}

function withoutPaths(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (value === null || value === undefined) return value;
  if (paths.some((path) => path.length === 0)) return hidden;
  if (typeof value !== "object") return hidden;
  const below = (name: string) => paths.flatMap(([first, ...rest]) => (first === "*" || first === name ? [rest] : []));
  const inside = (name: string, each: unknown) => {
    const rest = below(name);
    return rest.length === 0 ? each : withoutPaths(each, rest);
  };
  if (Array.isArray(value)) return value.map((each, index) => inside(String(index), each));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inside(name, each)]));
}

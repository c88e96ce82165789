import type { Registry } from "../define/definition.ts";
import type { Scope } from "../define/scope.ts";
import type { JobId } from "../machine/job.ts";
import { kindOf } from "../machine/closable-texts.ts";
import { readRun } from "../insight/runs.ts";
import { readRecords } from "../insight/job.ts";
import type { JobSearch } from "../insight/search.ts";
import type { ApiOptions } from "./options.ts";
import { HttpProblem, unknownJob, unknownRun } from "./problem.ts";

interface Reach {
  hasKind(kind: string): boolean;
  /** A lane that is named, or of which every kind is. */
  hasLane(name: string): boolean;
}

/**
 * What a caller may see and change, by the definitions of this release; `search` is the same for jobs. Without a scope that is all,
 * also what no definition has any more.
 */
export type Bounds = Reach &
  (
    | { readonly isWhole: true; readonly search: { readonly kinds?: never } }
    | { readonly isWhole: false; readonly search: { readonly kinds: readonly string[] } }
  );

export const everything: Bounds = { isWhole: true, search: {}, hasKind: () => true, hasLane: () => true };

export function boundsOf({ apps, jobs }: Pick<Registry, "apps" | "jobs">, scope: Scope | undefined): Bounds {
  if (scope === undefined) return everything;
  const named = apps.flatMap(({ name, jobs: own }) =>
    own.filter(({ lane }) => scope.apps?.includes(name) === true || scope.lanes?.includes(lane) === true),
  );
  const inside = new Set(named);
  // The loop also visits tasks that are added during it: a graph brings its own, whatever their lane.
  for (const job of inside) for (const made of job.makes ?? []) inside.add(made);
  const kinds = new Set([...inside].map(({ id }) => id));
  return {
    isWhole: false,
    search: { kinds: [...kinds] },
    hasKind: (kind) => kinds.has(kind),
    hasLane(name) {
      const kind = kindOf(name);
      if (kind !== null) return kinds.has(kind);
      const own = [...jobs.values()].filter(({ lane }) => lane === name);
      return scope.lanes?.includes(name) === true || (own.length > 0 && own.every(({ id }) => kinds.has(id)));
    },
  };
}

/**
 * What one request is about: these kinds, a lane, or the whole stage. `missing`: the answer where there is no such thing, given
 * for one of others too, so that no caller counts the numbers of other jobs.
 */
export type About =
  { readonly kinds: readonly string[]; readonly missing?: HttpProblem } | { readonly lane: string } | "everything";

/**
 * How an operation keeps to the scope of its caller.
 * `nothing`: it shows nothing of any job, so every caller may ask it. `everything`: it is about the whole stage, so a caller
 * with a scope is refused. `list`: its handler leaves out what `asked.within` does not have. A function: what the request
 * names; null where there is no such thing, which the handler says.
 */
export type ScopeRule<A> = "nothing" | "everything" | "list" | ((asked: A) => About | null | Promise<About | null>);

/** @throws HttpProblem 403, or 404 */
export async function confine<A extends Confined>(rule: ScopeRule<A>, asked: A, within: Bounds): Promise<void> {
  if (rule === "nothing") return;
  const about = typeof rule === "function" ? await rule(asked) : rule === "list" ? kindAsked(asked) : rule;
  if (about === null) return;
  if (about === "everything") throw outside("this is about the whole stage");
  if ("lane" in about) {
    if (!within.hasLane(about.lane)) throw outside(`the lane ${JSON.stringify(about.lane)} is not among them`);
    return;
  }
  const other = about.kinds.find((kind) => !within.hasKind(kind));
  if (other !== undefined)
    throw about.missing ?? outside(`the kind ${JSON.stringify(other.slice(0, 100))} is not among them`);
}

interface Confined {
  readonly query: unknown;
  readonly body: unknown;
}

/** A filter for a kind that the caller may not see is refused: an empty answer would look like one that is true. */
function kindAsked({ query, body }: Confined): About {
  const filters = [query, (body as { filter?: unknown } | undefined)?.filter] as readonly (
    { kind?: unknown } | undefined
  )[];
  return { kinds: filters.flatMap((each) => (typeof each?.kind === "string" ? [each.kind] : [])) };
}

export const outside = (why: string): HttpProblem =>
  new HttpProblem("outside-scope", `you may see and change only some apps or lanes: ${why}`);

export function isWithin({ kind, kinds }: JobSearch, within: Bounds): boolean {
  const named = kind === undefined ? kinds : [kind];
  return within.isWhole || named?.every((each) => within.hasKind(each)) === true;
}

export interface PathOf<Id extends string = string> {
  readonly params: { readonly id: Id };
}

export const ofJob =
  ({ insight }: Pick<ApiOptions, "insight">) =>
  async ({ params: { id } }: PathOf<JobId>): Promise<About | null> => {
    const [found] = await insight.run(readRecords, { ids: [id], whole: false });
    return found === undefined ? null : { kinds: [found.kind], missing: unknownJob(id) };
  };

export const ofRun =
  ({ insight }: Pick<ApiOptions, "insight">) =>
  async ({ params: { id } }: PathOf<JobId>): Promise<About | null> => {
    const [found] = await insight.run(readRun, id);
    return found === undefined ? null : { kinds: [found.kind], missing: unknownRun(id) };
  };

/** The kind that it runs now, or ran last, and the one that a change of it names. */
export const ofSchedule =
  ({ ports }: ApiOptions) =>
  async ({ params, body }: PathOf & { readonly body?: unknown }): Promise<About | null> => {
    const facts = await ports.store.scheduleFacts(params.id);
    const spec = facts?.row?.spec ?? facts?.versions.findLast((each) => each.spec !== null)?.spec;
    const next = (body as { kind?: unknown } | undefined)?.kind;
    const kinds = [spec?.job.kind, next].filter((kind) => typeof kind === "string");
    return kinds.length === 0 ? null : { kinds };
  };

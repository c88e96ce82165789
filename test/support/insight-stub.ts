import type { HolderOf, OccurrencesAt } from "../../src/insight/occurrences.ts";
import type { RunFilter } from "../../src/insight/runs.ts";
import type { Database } from "../../src/insight/sql-query.ts";
import type { JobId, RunId } from "../../src/machine/job.ts";
import type { Looks } from "./looks.ts";

type Answer = (params: never) => unknown;

/** Queries are answered by their names: with rows, or a row; null and a name that is not here have none. */
export function insightStub(answers: Readonly<Record<string, Answer>>): Database {
  const insight = {
    async run({ name }: { readonly name: string }, params: never) {
      const answer = await answers[name]?.(params);
      return Array.isArray(answer) ? answer : answer == null ? [] : [answer];
    },
    transaction: (work: (database: Database) => unknown) => work(insight),
    within: () => insight,
    epoch: () => Promise.resolve({ name: "0badcafe", first_event_id: "0" }),
  } as unknown as Database;
  return insight;
}

/** What the verbs of people read beside the store, answered by the reference store. */
export const insightOf = (looks: Looks): Database =>
  insightStub({
    run: (id: RunId) => looks.run(id),
    runs: async ({ kinds = [], key }: RunFilter) => (await looks.runs({ kinds })).filter((run) => run.key === key),
    moves: async ({ ids }: { readonly ids: readonly JobId[] }) =>
      (await Promise.all(ids.map((id) => looks.history(id)))).flat(),
    "occurrences-at": ({ id, ...at }: OccurrencesAt) => looks.occurrencesAt(id, at),
    "slot-holder": ({ id, ...of }: HolderOf) => looks.slotHolder(id, of),
  });

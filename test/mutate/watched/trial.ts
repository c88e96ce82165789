import { effectOf, type Send, type Sending } from "../../postgres/effects/watch.ts";
import { type Numbered, numbersIn, plantedIn, unmarked } from "./markers.ts";

/** `invalid`: Postgres refused the text in each execution. */
export interface Tried {
  readonly is: "killed" | "survived" | "invalid";
  /** The test in which it made a difference, or null. */
  readonly by: string | null;
}

interface State {
  by: string | null;
  /** Executions that Postgres did not refuse as no valid text. */
  ran: number;
}

/** Beyond it a mutant counts as found: the test would end. */
const statementMs = 3_000;

/**
 * Tries each mutant of a statement before it is sent, in a transaction that is rolled back: one that answers or writes
 * anything else makes another line in a golden file of `test/postgres/effects`. It is not tried again.
 */
export function createTrials(mutants: ReadonlyMap<number, Numbered>): {
  before(test: string, sending: Sending): Promise<void>;
  verdicts(): Map<string, Tried>;
  readonly notRepeated: ReadonlySet<string>;
} {
  const states = new Map<number, State>();
  const notRepeated = new Set<string>();
  let sequences: readonly string[] | null = null;

  return {
    notRepeated,
    async before(test, { name, text, values, client, send }) {
      const alive = numbersIn(text).filter((number) => (states.get(number)?.by ?? null) === null);
      if (alive.length === 0) return;
      sequences ??= await sequencesOf(send);
      const put = await sequencesNow(send, sequences);
      const isInside = client.getTransactionStatus() === "T";
      await send(
        `${isInside ? "savepoint trials" : "begin"}; set local statement_timeout = ${statementMs}; savepoint trial`,
      );
      const tryOne = (changed: string): Promise<string> => effectIn(send, changed, values, put);
      try {
        const usual = await tryOne(unmarked(text));
        if (usual !== (await tryOne(unmarked(text)))) {
          notRepeated.add(name);
          return;
        }
        for (const number of alive) {
          const mutant = mutants.get(number);
          if (mutant === undefined) throw new Error(`${name} carries the mark of mutant ${number}, which there is not`);
          const effect = await tryOne(plantedIn(text, mutant));
          const state = states.get(number) ?? { by: null, ran: 0 };
          states.set(number, state);
          const isRefused = effect.startsWith("error 42");
          if (isRefused) continue;
          state.ran += 1;
          if (effect !== usual) state.by = test;
        }
      } finally {
        await send(isInside ? "rollback to savepoint trials; release savepoint trials" : "rollback");
        await send(put);
      }
    },
    verdicts() {
      return new Map(
        [...states].flatMap(([number, { by, ran }]): [string, Tried][] => {
          const key = mutants.get(number)?.mutant.key;
          return key === undefined
            ? []
            : [[key, { is: by !== null ? "killed" : ran === 0 ? "invalid" : "survived", by }]];
        }),
      );
    },
  };
}

/** In the savepoint `trial`, to which it goes back. */
async function effectIn(send: Send, text: string, values: readonly unknown[], put: string): Promise<string> {
  try {
    const { rows } = await send(text, values);
    return await effectOf(text, rows, send);
  } catch (error) {
    return `error ${String((error as { code?: unknown }).code)}`;
  } finally {
    await send(`rollback to savepoint trial; ${put}`);
  }
}

async function sequencesOf(send: Send): Promise<string[]> {
  const { rows } = await send(
    "select format('%I.%I', schemaname, sequencename) as name from pg_sequences where schemaname = 'belfry'",
  );
  return (rows as { name: string }[]).map(({ name }) => name);
}

/** The statement that puts every sequence back to where it is now: no rollback does. */
async function sequencesNow(send: Send, sequences: readonly string[]): Promise<string> {
  const each = sequences.map((name) => `select '${name}' as name, last_value as at, is_called as called from ${name}`);
  const { rows } = await send(each.join(" union all "));
  const calls = (rows as { name: string; at: string; called: boolean }[]).map(
    ({ name, at, called }) => `setval('${name}', ${at}, ${called})`,
  );
  return `select ${calls.join(", ")}`;
}

import { mutantNamed } from "./mutants/index.ts";
import type { SimulateOptions } from "./simulate.ts";
import { planted, sqlFaultNamed } from "./sql/faults.ts";
import { openSqlServer } from "./sql/server.ts";

export interface Variants {
  /** How a run is made with this bug planted; null is without one. */
  of(bug: string | null): SimulateOptions;
  close(): Promise<void>;
}

/** On the reference store a bug is one of the mutants; on a real Postgres it is a fault in a statement. */
export async function openVariants({ sql }: { readonly sql: boolean }): Promise<Variants> {
  if (!sql) return { of: (bug) => (bug === null ? {} : mutantNamed(bug)), close: async () => {} };
  const server = await openSqlServer();
  return {
    of(bug) {
      if (bug === null) return { open: server.open({}) };
      const fault = sqlFaultNamed(bug);
      const { without } = fault;
      return { open: server.open({ plant: planted(fault) }), ...(without.length === 0 ? {} : { without }) };
    },
    close: () => server.close(),
  };
}

import { circuitLimits, type CircuitStore } from "../machine/circuit-store.ts";
import type { JobId } from "../machine/job.ts";
import { newestColumns } from "./outbox.ts";
import type { Session } from "./session.ts";
import { addCounts, holdOpen, judgeProbes, openFailing, readOpen, releaseHeld, spaceRetries } from "./sql/circuit.ts";
import { columns } from "./statement.ts";

export function circuitStore(session: Session): CircuitStore {
  return {
    openCircuits: async () => (await session.run(readOpen))[0]?.names ?? [],
    async holdForCircuits(messages, kinds) {
      const values = [...newestColumns(messages), ...columns(kinds, "kind", "circuit")];
      return (await session.run(holdOpen, values)).map(({ id }) => id as JobId);
    },
    async countForCircuits(counts, { worker }) {
      await session.run(addCounts, [...columns(counts, "name", "code", "ends"), worker]);
    },
    judgeCircuits: (rules) =>
      session.run(openFailing, columns(rules, "name", "share", "overMs", "minimum", "pauseMs", "alike")),
    spaceRetries: (budgets) =>
      session.run(spaceRetries, [...columns(budgets, "name", "n", "share"), circuitLimits.retriesFloor]),
    probeCircuits: (rules) => session.run(judgeProbes, columns(rules, "name", "pattern", "pauseMs", "overMs")),
    releaseForCircuits: async () => (await session.run(releaseHeld, [circuitLimits.circuitPageMax])).length,
  };
}

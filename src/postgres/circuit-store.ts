import { circuitLimits } from "../machine/circuit-limits.ts";
import type { CircuitStore } from "../machine/circuit-store.ts";
import type { JobId } from "../machine/job.ts";
import { newestColumns } from "./outbox.ts";
import type { Session } from "./session.ts";
import { addCounts, holdOpen, judgeProbes, openFailing, readOpen, releaseHeld } from "./sql/circuit.ts";

export function circuitStore(session: Session): CircuitStore {
  return {
    openCircuits: async () => (await session.run(readOpen))[0]?.names ?? [],
    async holdForCircuits(messages, kinds) {
      const columns = [kinds.map(({ kind }) => kind), kinds.map(({ circuit }) => circuit)];
      return (await session.run(holdOpen, [...newestColumns(messages), ...columns])).map(({ id }) => id as JobId);
    },
    async countForCircuits(counts, { worker }) {
      const columns = (["name", "code", "ends"] as const).map((field) => counts.map((each) => each[field]));
      await session.run(addCounts, [...columns, worker]);
    },
    judgeCircuits: async (rules) =>
      await session.run(
        openFailing,
        (["name", "share", "overMs", "minimum", "pauseMs"] as const).map((field) => rules.map((rule) => rule[field])),
      ),
    probeCircuits: async (rules) =>
      await session.run(
        judgeProbes,
        (["name", "pattern", "pauseMs", "overMs"] as const).map((field) => rules.map((rule) => rule[field])),
      ),
    releaseForCircuits: async () => (await session.run(releaseHeld, [circuitLimits.circuitPageMax])).length,
  };
}

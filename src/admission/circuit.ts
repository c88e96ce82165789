import type { CircuitRule } from "../machine/circuit-store.ts";
import { reasons } from "../machine/reasons.ts";
import { iso } from "../machine/units.ts";
import { piece } from "../machine/wait-texts.ts";
import type { CodeGate, Wait, WaitingView } from "./gate.ts";

const prefix = "circuit:";

/** The key that its jobs are held for. `name`: an expression of SQL. */
export const circuitKey = (name: string): string => `'${prefix}' || ${name}`;

/** Holds the jobs of a target that is down, before a claim: they use no attempt. One of them, the probe, finds out whether it is back. */
export const circuitGate = {
  form: "code",
  name: "circuit",
  refuses: { [reasons.circuitOpen]: {} },
  waits: {
    cause: "circuit-open",
    why({ job, facts: { circuit } }: WaitingView): Wait | null {
      if (circuit === null) return null;
      const { name, ended, failed, code, until, probe } = circuit;
      if (until === null) return { pieces: [piece("circuitClosed", { name })] };
      const open =
        probe === null ? piece("circuitOpen", { name, until: iso(until) }) : piece("circuitProbed", { name, probe });
      return {
        pieces: [open, piece("circuitWhy", { failed, ended, code })],
        advice: `look at what the jobs call: when it answers, a probe closes the circuit by itself; to send one now: belfry jobs run-now ${job.id}`,
        until: probe === null ? until : null,
      };
    },
  },
} as const satisfies CodeGate;

/** The circuits of these kinds, each once: kinds of one name have the same rule, which `check` sees to. */
export const circuitsOf = (kinds: Iterable<{ readonly circuit: CircuitRule | null }>): readonly CircuitRule[] => [
  ...new Map([...kinds].flatMap(({ circuit }) => (circuit === null ? [] : [[circuit.name, circuit]]))).values(),
];

import { circuitsOf } from "../admission/circuit.ts";
import type { Registry } from "../define/definition.ts";
import { circuitLimits, type CircuitCount, type CircuitRule } from "../machine/circuit-store.ts";
import type { Outcome } from "../machine/decide.ts";
import type { Ports } from "../machine/ports.ts";
import type { Arrived } from "./message.ts";
import { budgetsOf, firstOf } from "./retry-budget.ts";

/** How an attempt ended; `written-elsewhere` is a success. */
type AttemptEnd = { readonly is: "outcome"; readonly outcome: Outcome } | { readonly is: "written-elsewhere" | "lost" };

/** What one worker does for the circuits and retry budgets of its kinds. */
export interface Circuits {
  /** Holds what arrives for an open circuit. @returns the messages of the others. */
  hold(arrived: readonly Arrived[]): Promise<readonly Arrived[]>;
  count(job: { readonly kind: string; readonly failures: number }, end: AttemptEnd): void;
  /** Writes what was counted, and opens the circuits that it says are failing. Never rejects: counts may be lost. */
  flush(): Promise<void>;
}

/** @returns null where no kind has one. */
export function createCircuits(ports: Ports, registry: Registry, worker: string): Circuits | null {
  const { clock, store, log, metrics } = ports;
  const rules = new Map(
    [...registry.jobs].flatMap(([kind, { circuit }]) => (circuit === null ? [] : [[kind, circuit]])),
  );
  if (rules.size + budgetsOf(registry).length === 0) return null;
  const counts = new Map<string, CircuitCount>();
  let looked: { readonly atMs: number; readonly open: readonly string[] } | null = null;
  let cancel: (() => void) | null = null;

  const open = async (): Promise<readonly string[]> => {
    if (looked === null || clock.elapsedMs() - looked.atMs >= circuitLimits.circuitLookMs)
      looked = { atMs: clock.elapsedMs(), open: await store.openCircuits() };
    return looked.open;
  };
  const judge = async (names: ReadonlySet<string>): Promise<void> => {
    const failing = circuitsOf([...rules.values()].map((circuit) => ({ circuit }))).filter(({ name }) =>
      names.has(name),
    );
    const opened = failing.length === 0 ? [] : await store.judgeCircuits(failing);
    if (opened.length > 0) looked = null;
    for (const circuit of opened) {
      log.warn("a circuit opened: its jobs wait for a probe", { ...circuit });
      metrics.add("circuit.opened", 1);
    }
  };
  const flush = async (): Promise<void> => {
    cancel?.();
    cancel = null;
    const counted = [...counts.values()];
    counts.clear();
    if (counted.length === 0) return;
    try {
      await store.countForCircuits(counted, { worker });
      await judge(new Set(counted.flatMap(({ name, code }) => (code === "" ? [] : name))));
    } catch (error) {
      log.warn("ends were not counted for their circuits", { ends: counted.length, error });
    }
  };
  return {
    async hold(arrived) {
      if (rules.size === 0 || arrived.length === 0) return arrived;
      const names = await open();
      const kinds = [...rules].flatMap(([kind, { name }]) => (names.includes(name) ? { kind, circuit: name } : []));
      if (kinds.length === 0) return arrived;
      const held = new Set(
        await store.holdForCircuits(
          arrived.map(({ message }) => message),
          kinds,
        ),
      );
      return arrived.filter(({ message }) => !held.has(message.jobId));
    },
    count(job, end) {
      const ends = [...countOf(rules.get(job.kind), end), ...(codeOf(end) === null ? [] : firstOf(job, registry))];
      if (ends.length === 0) return;
      for (const each of ends) {
        const key = `${each.name} ${each.code}`;
        counts.set(key, { ...each, ends: (counts.get(key)?.ends ?? 0) + 1 });
      }
      cancel ??= clock.after(circuitLimits.circuitCountMs, () => void flush());
    },
    flush,
  };
}

function countOf(rule: CircuitRule | undefined, end: AttemptEnd): readonly CircuitCount[] {
  const code = codeOf(end);
  if (rule === undefined || code === null) return [];
  return [{ name: rule.name, code: new RegExp(rule.pattern).test(code) ? code : "", ends: 1 }];
}

/** Its error code, "" for a success; null for what says nothing about what it called. */
function codeOf(end: AttemptEnd): string | null {
  if (end.is !== "outcome") return end.is === "written-elsewhere" ? "" : null;
  const { outcome } = end;
  if (outcome.is === "success") return "";
  return outcome.is === "released" || outcome.is === "postponed" ? null : outcome.code;
}

/** A step of the pass: probes, closes and releases. */
export async function keepCircuits(
  { store, log }: Pick<Ports, "store" | "log">,
  registry: Registry,
): Promise<Record<string, number>> {
  const moves = await store.probeCircuits([...circuitsOf(registry.jobs.values()), ...budgetsOf(registry)]);
  for (const { name, move } of moves) log.info("a circuit moved", { circuit: name, move });
  return { "circuits.moved": moves.length, "circuits.released": await store.releaseForCircuits() };
}

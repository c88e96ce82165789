import type {
  CircuitCount,
  CircuitMove,
  CircuitRule,
  CircuitStore,
  OpenCircuit,
} from "../../../src/machine/circuit-store.ts";
import type { JobId } from "../../../src/machine/job.ts";
import { reasons } from "../../../src/machine/reasons.ts";
import { waitsAgain } from "./turns.ts";
import type { CircuitRow, JobRow } from "./rows.ts";
import { idOf, type Tables } from "./tables.ts";

const closed = { openUntil: null, ended: 0, failed: 0, code: "", probe: null, page: 10, retryAt: 0 } as const;
const pageMax = 1_000;

export const openCircuits = (t: Tables): readonly string[] =>
  [...t.circuits.entries()].flatMap(([name, { openUntil }]) => (openUntil === null ? [] : name)).toSorted();

export function holdForCircuits(
  t: Tables,
  [messages, kinds]: Parameters<CircuitStore["holdForCircuits"]>,
): readonly JobId[] {
  const generations = new Map(messages.map(({ jobId, generation }) => [Number(jobId), generation]));
  return [...generations.keys()]
    .toSorted((a, b) => a - b)
    .flatMap((id) => {
      const row = t.jobs.get(id);
      const name = kinds.find(({ kind }) => kind === row?.kind)?.circuit ?? "";
      const circuit = t.circuits.get(name);
      if (row?.state !== "QUEUED" || row.generation !== generations.get(id) || circuit == null) return [];
      const isProbe = circuit.probe?.id === id && circuit.probe.failures === row.failures;
      if (circuit.openUntil === null || isProbe) return [];
      const held = { state: "PENDING", hold: "paused", circuit: name, handedAt: null } as const;
      return idOf(t.move(row, { ...held, generation: row.generation + 1 }, { reason: reasons.circuitOpen }));
    });
}

export function countForCircuits(t: Tables, counts: readonly CircuitCount[]): void {
  for (const { name, code, ends } of counts) {
    if (t.circuits.get(name) === undefined) t.circuits.set(name, closed);
    const at = Math.floor(t.now() / 1_000) * 1_000;
    const key = `${name} ${at} ${code}`;
    t.circuitCounts.set(key, { name, at, code, ends: ends + (t.circuitCounts.get(key)?.ends ?? 0) });
  }
}

export function judgeCircuits(t: Tables, rules: readonly CircuitRule[]): readonly OpenCircuit[] {
  return rules.flatMap(({ name, share, overMs, minimum, pauseMs, alike }) => {
    const circuit = t.circuits.get(name);
    if (circuit === undefined || circuit.openUntil !== null) return [];
    const own = [...t.circuitCounts.values()].filter((each) => each.name === name);
    const successes = alike && share === 1 ? own.filter(({ code }) => code === "").map(({ at }) => at) : [];
    const counts = own.filter(({ at }) => at > Math.max(t.now() - overMs, ...successes));
    const byCode = [...Map.groupBy(counts, ({ code }) => code)].map(([code, each]) => ({ code, ends: sum(each) }));
    const failures = byCode.filter(({ code }) => code !== "");
    const ended = sum(byCode);
    const failed = alike ? Math.max(0, ...failures.map(({ ends }) => ends)) : sum(failures);
    if (failed === 0 || ended < minimum || failed < share * ended) return [];
    const code = failures.toSorted((a, b) => b.ends - a.ends || (a.code < b.code ? -1 : 1))[0]?.code ?? "";
    t.circuits.set(name, { ...circuit, openUntil: t.now() + pauseMs, ended, failed, code, probe: null });
    return [{ name, ended, failed, code, until: t.now() + pauseMs }];
  });
}

const sum = (counts: readonly { readonly ends: number }[]): number => counts.reduce((all, { ends }) => all + ends, 0);

export const spaceRetries = (t: Tables, budgets: Parameters<CircuitStore["spaceRetries"]>[0]) =>
  budgets.map(({ name, n, share }) => {
    const circuit = t.circuits.get(name) ?? closed;
    const firsts = sum(
      [...t.circuitCounts.values()].filter((each) => each.name === name && each.at > t.now() - 60_000),
    );
    const everyMs = 60_000 / Math.max(10, share * firsts);
    const retryAt = Math.max(circuit.retryAt, t.now()) + n * everyMs;
    t.circuits.set(name, { ...circuit, retryAt });
    return { name, endsMs: Math.floor(retryAt - t.now()), everyMs };
  });

export function probeCircuits(t: Tables, rules: readonly CircuitRule[]): readonly CircuitMove[] {
  const moves = [...t.circuits.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, circuit]): CircuitMove[] => {
      const rule = rules.find((each) => each.name === name);
      if (circuit.openUntil === null || (rule !== undefined && circuit.openUntil > t.now())) return [];
      const move = rule === undefined ? "close" : verdictOf(t, circuit, rule);
      if (move === null) return [];
      if (move !== "probe") {
        const openUntil = move === "open" ? t.now() + (rule?.pauseMs ?? 0) : null;
        t.circuits.set(name, { ...circuit, openUntil, probe: null, page: 10 });
        return [{ name, move }];
      }
      const [chosen] = heldFor(t, name);
      if (chosen === undefined) return [];
      t.change(chosen, { hold: "none", circuit: undefined });
      t.circuits.set(name, { ...circuit, probe: chosen, page: 10 });
      return [{ name, move }];
    });
  const isClosed = new Set(moves.flatMap(({ name, move }) => (move === "close" ? name : [])));
  for (const [key, { name, at }] of t.circuitCounts.entries()) {
    const overMs = rules.find((each) => each.name === name)?.overMs ?? 0;
    if (isClosed.has(name) || at <= t.now() - overMs) t.circuitCounts.delete(key);
  }
  return moves;
}

function verdictOf(t: Tables, { probe }: CircuitRow, { pattern }: CircuitRule): CircuitMove["move"] | null {
  const row = probe === null ? undefined : t.jobs.get(probe.id);
  if (probe === null || row === undefined) return "probe";
  if (row.state === "SUCCESS") return "close";
  if (row.failures > probe.failures && new RegExp(pattern).test(row.errorCode ?? "")) return "open";
  const isOver = row.failures !== probe.failures || row.finishedAt !== null || row.hold !== "none";
  return isOver ? "probe" : null;
}

export function releaseForCircuits(t: Tables): number {
  const released = [...t.circuits.entries()].flatMap(([name, circuit]) => {
    const rows = circuit.openUntil === null ? heldFor(t, name).slice(0, circuit.page) : [];
    if (rows.length > 0) t.circuits.set(name, { ...circuit, page: Math.min(circuit.page * 2, pageMax) });
    return rows;
  });
  for (const row of released) t.change(row, { ...waitsAgain(row), circuit: undefined });
  return released.length;
}

/** The earliest due first. */
const heldFor = (t: Tables, name: string): readonly JobRow[] =>
  t
    .inStates("PENDING", "RETRY_WAIT")
    .filter(({ circuit }) => circuit === name)
    .toSorted((a, b) => a.dueAt - b.dueAt || a.id - b.id);

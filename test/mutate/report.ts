import type { Accepted, Verdict } from "./kept.ts";
import type { Ledger } from "./ledger.ts";
import { describeMutant, type Mutant } from "./mutant.ts";

/** Of the mutants that count: those that Postgres takes and that change a text. */
export const survivingShareMax = 0.05;

interface Known {
  readonly chosen: readonly Mutant[];
  readonly ledger: Ledger;
  readonly accepted: readonly Accepted[];
  /** Of all mutants there are, chosen or not. */
  readonly everyKey: ReadonlySet<string>;
  /** Of the commits that judged, the one to name: the oldest. */
  readonly oldest: (commits: readonly string[]) => string;
  readonly json: boolean;
}

/** Prints the survivors and the totals. 0 when each survivor has a reason, few survive, and no reason is out of date. */
export function report({ chosen, ledger, accepted, everyKey, oldest, json }: Known): number {
  const judged = chosen.flatMap((mutant) => {
    const verdict = ledger.get(mutant.key);
    return verdict === undefined ? [] : [{ mutant, verdict }];
  });
  const of = (...kinds: Verdict["is"][]): typeof judged => judged.filter(({ verdict }) => kinds.includes(verdict.is));
  const survivors = of("survived", "unreached");
  const counted = judged.length - of("invalid", "same").length;
  const reasons = new Map(accepted.map((entry) => [entry.key, entry.reason]));
  const unexplained = survivors.filter(({ mutant }) => !reasons.has(mutant.key));
  const stale = accepted.filter(
    ({ key }) => !everyKey.has(key) || ["killed", "hung"].includes(ledger.get(key)?.is ?? ""),
  );
  const share = counted === 0 ? 0 : survivors.length / counted;
  const totals = {
    chosen: chosen.length,
    judged: judged.length,
    counted,
    killed: of("killed").length,
    hung: of("hung").length,
    survived: of("survived").length,
    unreached: of("unreached").length,
    invalid: of("invalid").length,
    same: of("same").length,
    accepted: survivors.length - unexplained.length,
    stale: stale.length,
    survivingShare: Number(share.toFixed(4)),
    oldest: oldest([...new Set(judged.map(({ verdict }) => verdict.commit))]),
  };
  const holds =
    judged.length === chosen.length && unexplained.length === 0 && stale.length === 0 && share <= survivingShareMax;
  if (json) {
    const list = survivors.map(({ mutant, verdict }) => ({
      ...mutant,
      ...verdict,
      reason: reasons.get(mutant.key) ?? null,
    }));
    process.stdout.write(`${JSON.stringify({ ...totals, holds, survivors: list, staleReasons: stale })}\n`);
    return holds ? 0 : 1;
  }
  for (const { mutant, verdict } of unexplained)
    process.stdout.write(`${verdict.is} ${mutant.key} ${describeMutant(mutant)}\n`);
  for (const { key, mutant } of stale) process.stdout.write(`out of date in accepted.json: ${key} ${mutant}\n`);
  process.stdout.write(
    `${Object.entries(totals)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}\n`,
  );
  return holds ? 0 : 1;
}

import type { Reasons, Verdict } from "./kept.ts";
import type { Ledger } from "./ledger.ts";
import { changeOf, describeMutant, type Mutant, placeOf } from "./mutant.ts";

/** Of the mutants that count: those that Postgres takes and that change a text. */
export const survivingShareMax = 0.05;

interface Known {
  readonly chosen: readonly Mutant[];
  readonly ledger: Ledger;
  readonly reasons: Reasons;
  /** Of the commits that judged, the one to name: the oldest. */
  readonly oldest: (commits: readonly string[]) => string;
}

/** Prints the survivors and the totals. 0 when each survivor has a reason and few survive. */
export function report({ chosen, ledger, reasons, oldest }: Known): number {
  const judged = chosen.flatMap((mutant) => {
    const verdict = ledger.get(mutant.key);
    return verdict === undefined ? [] : [{ mutant, verdict }];
  });
  const of = (...kinds: Verdict["is"][]): typeof judged => judged.filter(({ verdict }) => kinds.includes(verdict.is));
  const survivors = of("survived", "unreached");
  const counted = judged.length - of("invalid", "same").length;
  const reasonOf = (mutant: Mutant): string | null => reasons[placeOf(mutant)]?.[changeOf(mutant)] ?? null;
  const unexplained = survivors.filter(({ mutant }) => reasonOf(mutant) === null);
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
    explained: survivors.length - unexplained.length,
    survivingShare: Number(share.toFixed(4)),
    oldest: oldest([...new Set(judged.map(({ verdict }) => verdict.commit))]),
  };
  const holds = judged.length === chosen.length && unexplained.length === 0 && share <= survivingShareMax;
  for (const { mutant, verdict } of unexplained)
    process.stdout.write(`${verdict.is} ${mutant.key} ${describeMutant(mutant)}\n`);
  process.stdout.write(
    `${Object.entries(totals)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}\n`,
  );
  return holds ? 0 : 1;
}

import { median, quantile } from "../rounds.ts";
import type { ContenderName } from "./contender.ts";
import type { Stretch } from "./ring.ts";

export const stretches = ["single", "insert", "drain", "both", "both analyzed", "drain beside", "both beside"] as const;
export type StretchName = (typeof stretches)[number];

/** What one contender did in one round. `idleMs` and `loadedMs` are single pick-ups. */
export interface Round {
  readonly stretches: Partial<Readonly<Record<StretchName, Stretch>>>;
  readonly idleMs: readonly number[];
  readonly loadedMs: readonly number[];
  readonly keptBytes: number | null;
}

export type Rounds = Readonly<Record<ContenderName, readonly Round[]>>;

/** A line of the table: one quantity of all contenders; null where one has no such figure. */
export interface Line {
  readonly name: string;
  readonly unit: string;
  readonly values: Readonly<Record<ContenderName, number | null>>;
}

export interface Verdict {
  readonly name: string;
  readonly ratio: number;
  readonly bar: string;
  readonly pass: boolean;
}

const perRound = (rounds: readonly Round[], of: (round: Round) => number | null | undefined): readonly number[] =>
  rounds.map(of).filter((value) => value !== null && value !== undefined);

/** By contender; null for one that has none of these values. */
function byContender(rounds: Rounds, valuesOf: (name: ContenderName) => readonly number[], q = 0.5): Line["values"] {
  const names = Object.keys(rounds) as ContenderName[];
  const value = (values: readonly number[]) => (values.length === 0 ? null : quantile(values, q));
  return Object.fromEntries(names.map((name) => [name, value(valuesOf(name))])) as Line["values"];
}

const line = (rounds: Rounds, name: string, unit: string, of: (round: Round) => number | null | undefined): Line => ({
  name,
  unit,
  values: byContender(rounds, (contender) => perRound(rounds[contender], of)),
});

const pickUps = [
  { name: "pick-up when idle, p50", of: "idleMs", q: 0.5 },
  { name: "pick-up when idle, p99", of: "idleMs", q: 0.99 },
  { name: "pick-up under load, p50", of: "loadedMs", q: 0.5 },
  { name: "pick-up under load, p99", of: "loadedMs", q: 0.99 },
] as const;

/** Of all pick-ups of all rounds: a quantile of one round's few would be its worst. */
const waits = (rounds: Rounds, { of, q }: (typeof pickUps)[number]): Line["values"] =>
  byContender(rounds, (name) => rounds[name].flatMap((round) => round[of]), q);

const labels: Readonly<Record<StretchName, string>> = {
  single: "insert, one a call",
  insert: "insert, 1,000 a call",
  drain: "drain",
  both: "end to end: insert and drain at once",
  "both analyzed": "end to end after an analyze of the drained table",
  "drain beside": "drain beside the crowd",
  "both beside": "end to end beside the crowd",
};

export function lines(rounds: Rounds): readonly Line[] {
  const rates = stretches.map((name) =>
    line(rounds, labels[name], "jobs/s", (round) => round.stretches[name]?.perSecond),
  );
  const ratio = line(rounds, "end to end beside the crowd, to empty", "x", besideToEmpty);
  const costs = (["insert", "drain", "both", "both analyzed"] as const).flatMap((name) => [
    line(rounds, `${labels[name]}: Postgres CPU`, "us a job", (round) => round.stretches[name]?.postgresUs),
    line(rounds, `${labels[name]}: Node CPU`, "us a job", (round) => round.stretches[name]?.nodeUs),
    line(rounds, `${labels[name]}: WAL`, "B a job", (round) => round.stretches[name]?.walBytes),
  ]);
  return [
    ...rates,
    ratio,
    ...pickUps.map((each) => ({ name: each.name, unit: "ms", values: waits(rounds, each) })),
    ...costs,
    line(rounds, "kept after the end", "B a job", (round) => round.keptBytes),
  ];
}

function besideToEmpty(round: Round): number | null {
  const { both, "both beside": beside } = round.stretches;
  return both === undefined || beside === undefined ? null : beside.perSecond / both.perSecond;
}

/** Belfry's figure to the other's, as the median of the rounds' own ratios. */
function toOther(rounds: Rounds, other: ContenderName, of: (round: Round) => number | undefined): number {
  const own = perRound(rounds.belfry, of);
  const theirs = perRound(rounds[other], of);
  return median(own.map((value, at) => value / (theirs[at] ?? Number.NaN)));
}

/** Nothing here depends on the machine: all are ratios of one run. */
export function verdicts(rounds: Rounds): readonly Verdict[] {
  const bounded = (name: string, ratio: number, sign: ">=" | "<=", bound: number): Verdict => ({
    name,
    ratio,
    bar: `${sign} ${bound} x`,
    pass: sign === ">=" ? ratio >= bound : ratio <= bound,
  });
  const toBoth = (stretch: StretchName, least: Readonly<Record<"graphile-worker" | "pg-boss", number>>) =>
    (["graphile-worker", "pg-boss"] as const).map((other) => {
      const ratio = toOther(rounds, other, (round) => round.stretches[stretch]?.perSecond);
      return bounded(`${labels[stretch]}, to ${other}`, ratio, ">=", least[other]);
    });
  const postgres = toOther(rounds, "graphile-worker", (round) => round.stretches.both?.postgresUs);
  const waited = pickUps.map((each) => {
    const { belfry, "graphile-worker": one, "pg-boss": other } = waits(rounds, each);
    const ratio = (belfry ?? Number.NaN) / Math.min(one ?? Number.NaN, other ?? Number.NaN);
    return bounded(`${each.name}, to the quicker peer`, ratio, "<=", 1.1);
  });
  return [
    ...toBoth("both", { "graphile-worker": 1, "pg-boss": 1.5 }),
    ...toBoth("both beside", { "graphile-worker": 2.5, "pg-boss": 2.5 }),
    ...toBoth("insert", { "graphile-worker": 0.8, "pg-boss": 1 }),
    bounded("Postgres CPU end to end, to graphile-worker", postgres, "<=", 0.95),
    ...waited,
    bounded("end to end beside the crowd, to empty", median(perRound(rounds.belfry, besideToEmpty)), ">=", 0.9),
  ];
}

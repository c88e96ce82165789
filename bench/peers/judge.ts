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

const order = (rounds: Rounds): readonly ContenderName[] => Object.keys(rounds) as ContenderName[];

const perRound = (rounds: readonly Round[], of: (round: Round) => number | null | undefined): readonly number[] =>
  rounds.map(of).filter((value) => value !== null && value !== undefined);

function line(rounds: Rounds, name: string, unit: string, of: (round: Round) => number | null | undefined): Line {
  const value = (contender: ContenderName): number | null => {
    const values = perRound(rounds[contender], of);
    return values.length === 0 ? null : median(values);
  };
  return { name, unit, values: Object.fromEntries(order(rounds).map((each) => [each, value(each)])) as Line["values"] };
}

/** Of all pick-ups of all rounds: a quantile of one round's few would be its worst. */
function waits(rounds: Rounds, name: string, of: "idleMs" | "loadedMs", q: number): Line {
  const value = (contender: ContenderName): number | null => {
    const all = rounds[contender].flatMap((round) => round[of]);
    return all.length === 0 ? null : quantile(all, q);
  };
  return {
    name,
    unit: "ms",
    values: Object.fromEntries(order(rounds).map((each) => [each, value(each)])) as Line["values"],
  };
}

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
    waits(rounds, "pick-up when idle, p50", "idleMs", 0.5),
    waits(rounds, "pick-up when idle, p99", "idleMs", 0.99),
    waits(rounds, "pick-up under load, p50", "loadedMs", 0.5),
    waits(rounds, "pick-up under load, p99", "loadedMs", 0.99),
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

/** What issue 22 asks. Nothing here depends on the machine: all are ratios of one run. */
export function verdicts(rounds: Rounds): readonly Verdict[] {
  const atLeast = (name: string, ratio: number, least: number): Verdict => {
    return { name, ratio, bar: `>= ${least} x`, pass: ratio >= least };
  };
  const atMost = (name: string, ratio: number, most: number): Verdict => {
    return { name, ratio, bar: `<= ${most} x`, pass: ratio <= most };
  };
  const endToEnd = (other: ContenderName) => toOther(rounds, other, (round) => round.stretches.both?.perSecond);
  const waited = (own: ContenderName, of: "idleMs" | "loadedMs", q: number): number => {
    const at = (name: ContenderName): number =>
      quantile(
        rounds[name].flatMap((round) => round[of]),
        q,
      );
    return at(own) / Math.min(at("graphile-worker"), at("pg-boss"));
  };
  return [
    atLeast("end to end, to graphile-worker", endToEnd("graphile-worker"), 1.2),
    atLeast("end to end, to pg-boss", endToEnd("pg-boss"), 1.5),
    atMost(
      "Postgres CPU end to end, to graphile-worker",
      toOther(rounds, "graphile-worker", (round) => round.stretches.both?.postgresUs),
      1,
    ),
    atMost("pick-up when idle, p50, to the quicker peer", waited("belfry", "idleMs", 0.5), 1),
    atMost("pick-up when idle, p99", waited("belfry", "idleMs", 0.99), 1),
    atMost("pick-up when idle through the SQS API, p50", waited("belfry-sqs", "idleMs", 0.5), 1),
    atMost("pick-up under load, p50", waited("belfry", "loadedMs", 0.5), 1),
    atMost("pick-up under load, p99", waited("belfry", "loadedMs", 0.99), 1),
    atLeast("end to end beside the crowd, to empty", median(perRound(rounds.belfry, besideToEmpty)), 0.9),
  ];
}

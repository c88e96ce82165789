import { setTimeout as wait } from "node:timers/promises";
import type { ReplyOf } from "../../src/api/api.ts";
import type { ApiClient } from "../../src/cli/client.ts";
import { quantile } from "../rounds.ts";

export interface Rate {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface Load {
  readonly kind: string;
  /** Of the keys, which no other job has. */
  readonly prefix: string;
  readonly rate: Rate;
  /** How long the last jobs may take until they have settled. */
  readonly settleMsMax: number;
}

export interface Driven {
  readonly rate: Rate;
  readonly sent: number;
  /** Requests that the API refused or did not answer. */
  readonly refused: number;
  readonly settled: number;
  readonly failed: number;
  /** Canceled at the end, as they had not settled in time. */
  readonly left: number;
  /** From the first job's row to the last end, by the database's clock. */
  readonly settledPerSecond: number;
  /** The answer of POST /jobs, as this machine saw it. */
  readonly answerMs: Quantiles;
  /** From the row to the start of its handler, and to its end: both by the database's clock. */
  readonly startMs: Quantiles;
  readonly endMs: Quantiles;
  readonly calls: number;
}

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

const lookMs = 2_000;
const pageRows = 500;
/** Requests under way at once: more are not begun, so that an API that is away is not buried. */
const openMax = 200;

type Api = Pick<ApiClient, "call">;
type Row = ReplyOf<"listJobs">["jobs"][number];

/** Enqueues at a rate by the API alone, waits for the ends and cancels what has none: no access to the database. */
export async function drive(api: Api, { kind, prefix, rate, settleMsMax }: Load): Promise<Driven> {
  const { answers, refused } = await enqueueAll(api, { kind, prefix, rate });
  let calls = answers.length + refused;
  const untilMs = performance.now() + settleMsMax;
  let rows: readonly Row[] = [];
  for (;;) {
    const found = await ownRows(api, kind, prefix);
    rows = found.rows;
    calls += found.calls;
    if (rows.filter(isSettled).length >= answers.length || performance.now() >= untilMs) break;
    await wait(lookMs);
  }
  const open = rows.filter((row) => !isSettled(row));
  for (const { id } of open) await api.call("cancelJob", { id });
  const settled = rows.filter(isSettled);
  const ms = (to: string | null, from: string): number => Date.parse(to ?? from) - Date.parse(from);
  const firstMs = Math.min(...rows.map(({ createdAt }) => Date.parse(createdAt)));
  const lastMs = Math.max(...settled.map(({ finishedAt }) => Date.parse(finishedAt ?? "")));
  return {
    rate,
    sent: answers.length,
    refused,
    settled: settled.length,
    failed: settled.filter(({ state }) => state !== "SUCCESS").length,
    left: open.length,
    settledPerSecond: settled.length === 0 ? 0 : (settled.length * 1_000) / Math.max(1, lastMs - firstMs),
    answerMs: quantiles(answers),
    startMs: quantiles(settled.map((row) => ms(row.startedAt, row.createdAt))),
    endMs: quantiles(settled.map((row) => ms(row.finishedAt, row.createdAt))),
    calls: calls + open.length,
  };
}

const isSettled = ({ finishedAt }: Row): boolean => finishedAt !== null;
const quantiles = (values: readonly number[]): Quantiles =>
  values.length === 0 ? { p50: 0, p99: 0 } : { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };

/** Each at its own time, whether or not those before have been answered. */
async function enqueueAll(
  api: Api,
  { kind, prefix, rate: { perSecond, seconds } }: Omit<Load, "settleMsMax">,
): Promise<{ readonly answers: readonly number[]; readonly refused: number }> {
  const answers: number[] = [];
  let refused = 0;
  const open = new Set<Promise<void>>();
  const beganMs = performance.now();
  for (let n = 0; n < perSecond * seconds; n += 1) {
    await wait(Math.max(0, beganMs + (n * 1_000) / perSecond - performance.now()));
    if (open.size >= openMax) await Promise.race(open);
    const sentMs = performance.now();
    const one = api
      .call("createJob", {}, { kind, key: `${prefix}${n}` })
      .then(() => void answers.push(performance.now() - sentMs))
      .catch(() => void (refused += 1))
      .finally(() => void open.delete(one));
    open.add(one);
  }
  await Promise.all(open);
  return { answers, refused };
}

/** The newest first, until a page has none of this run. */
async function ownRows(api: Api, kind: string, prefix: string): Promise<{ rows: readonly Row[]; calls: number }> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (let calls = 1; ; calls += 1) {
    const page = await api.call("listJobs", { kind, limit: String(pageRows), cursor });
    const own = page.jobs.filter(({ key }) => key?.startsWith(prefix) === true);
    rows.push(...own);
    if (page.nextCursor === null || (own.length === 0 && page.jobs.length > 0)) return { rows, calls };
    cursor = page.nextCursor;
  }
}

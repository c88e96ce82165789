import { reasons } from "../../src/machine/reasons.ts";
import type { Evidence, EventFact, Violation } from "./evidence.ts";

/** One kind of each field of flow control, and its numbers. */
export interface FlowRules {
  readonly bursts: { readonly kind: string; readonly forMs: number; readonly maxMs: number };
  readonly rate: { readonly kind: string; readonly limit: number; readonly perMs: number };
  readonly batch: { readonly kind: string; readonly max: number };
  readonly circuit: { readonly kind: string };
  /** Retries of a kind are due so far apart at least; `longerMs`: the longest wait without a budget, and how long a worker may stand still before it writes its turn. */
  readonly budget: { readonly kind: string; readonly everyMs: number; readonly longerMs: number };
}

/** What was seen of it beside the tables. */
export interface FlowFacts extends FlowRules {
  /** Of a burst, by the label of a payload. */
  readonly keyOf: (mark: string | null) => string;
  /** The jobs of each call, with the key of each. */
  readonly calls: readonly (readonly { readonly jobId: string; readonly key: string }[])[];
  readonly moves: readonly { readonly at: number; readonly move: "opened" | "probe" | "open" | "close" }[];
}

/** A worker looks at the circuits once a second, and may be stopped between its look and its claim. */
const lookMs = 20_000;

/** C13: bursts, rates, batches and circuits let no job start that should wait. */
export function* flowControl(evidence: Evidence): Generator<Violation> {
  if (evidence.flow === undefined) return;
  const kinds = new Map(evidence.jobs.map(({ id, kind }) => [id, kind]));
  const of = (kind: string): readonly EventFact[] => evidence.events.filter(({ jobId }) => kinds.get(jobId) === kind);
  const { flow } = evidence;
  yield* bursts(evidence, flow, of(flow.bursts.kind));
  yield* rate(flow, of(flow.rate.kind).filter(isStart));
  for (const call of flow.calls)
    if (call.length > flow.batch.max || new Set(call.map(({ key }) => key)).size > 1)
      yield broken(`one call had ${call.map(({ jobId, key }) => `job ${jobId} of ${key}`).join(", ")}`);
  yield* budget(evidence, flow, of(flow.budget.kind));
  yield* circuit(flow, of(flow.circuit.kind).filter(isStart));
}

const isStart = ({ to }: EventFact): boolean => to === "RUNNING";

function* bursts(
  evidence: Evidence,
  { bursts: { kind, forMs, maxMs }, keyOf }: FlowFacts,
  events: readonly EventFact[],
): Generator<Violation> {
  const made = new Map(events.flatMap(({ jobId, from, at }) => (from === null ? [[jobId, at]] : [])));
  const dueOf = new Map(
    evidence.workers.flatMap((fact) => (fact.is === "claimed" && fact.attempt === 1 ? [[fact.jobId, fact.dueAt]] : [])),
  );
  const moved = Map.groupBy(
    events.filter(({ from, reason }) => from === "CANCELED" || reason === reasons.undelivered),
    ({ jobId }) => jobId,
  );
  const jobs = evidence.jobs.filter((job) => job.kind === kind);
  for (const { id } of jobs) {
    const dueAt = dueOf.get(id);
    if (dueAt === undefined) continue;
    const afterMs = dueAt - (made.get(id) ?? 0);
    // A retry of one that was canceled may make it due at once, and one that comes back undelivered waits before it is sent again.
    const isMoved = moved.get(id)?.some(({ reason, at }) => reason === reasons.undelivered || at === dueAt) ?? false;
    if ((afterMs < forMs || afterMs > maxMs) && !isMoved)
      yield broken(`burst ${id} was due ${afterMs} ms after its first call`);
  }
  for (const alike of Map.groupBy(jobs, ({ mark }) => keyOf(mark)).values()) {
    const inOrder = alike.toSorted((a, b) => Number(a.id) - Number(b.id));
    for (const [at, { id }] of inOrder.slice(1).entries()) {
      const before = inOrder[at]?.id;
      const left = events.find(({ jobId, to }) => jobId === before && to !== "PENDING" && to !== "QUEUED");
      if ((left?.at ?? Infinity) > (made.get(id) ?? 0))
        yield broken(`burst ${id} began while ${before} of its key waited`);
    }
  }
}

function* rate({ rate: { kind, limit, perMs } }: FlowFacts, starts: readonly EventFact[]): Generator<Violation> {
  const times = starts.map(({ at }) => at).toSorted((a, b) => a - b);
  for (const [n, at] of times.slice(limit).entries()) {
    const sinceMs = at - (times[n] ?? 0);
    if (sinceMs < perMs) yield broken(`${limit + 1} jobs of ${kind} started in ${sinceMs} ms`);
  }
}

/** Retries are due so far apart, but for those that were written late or whose own wait is longer than that for their turn. */
function* budget(
  { workers }: Evidence,
  { budget: { kind, everyMs, longerMs } }: FlowFacts,
  events: readonly EventFact[],
): Generator<Violation> {
  const retried = events.filter(({ reason }) => reason === reasons.retry || reason === reasons.retryBudget);
  const endedAt = new Map(retried.map(({ jobId, attempt, at }) => [`${jobId}/${attempt}`, at]));
  const due = workers.flatMap((fact) => {
    const at = fact.is === "settled" && fact.written ? endedAt.get(`${fact.jobId}/${fact.attempt}`) : undefined;
    return at === undefined || fact.is !== "settled" ? [] : [at + (fact.delayMs ?? 0)];
  });
  const times = due.toSorted((a, b) => a - b);
  for (const [n, from] of times.entries())
    for (const [more, at] of times.slice(n + 1).entries())
      if (at - from < (more + 1) * everyMs - longerMs)
        return yield broken(`${more + 2} retries of ${kind} were due within ${at - from} ms`);
}

/** While it is open, no other jobs than its probes start. */
function* circuit({ moves }: FlowFacts, starts: readonly EventFact[]): Generator<Violation> {
  for (const [n, opened] of moves.entries()) {
    if (opened.move !== "opened") continue;
    const closed = moves.findIndex(({ move }, later) => later > n && move === "close");
    const until = moves[closed]?.at ?? Infinity;
    const probes = moves.filter(({ move, at }) => move === "probe" && at >= opened.at && at <= until).length;
    const jobs = new Set(starts.flatMap(({ jobId, at }) => (at > opened.at + lookMs && at < until ? [jobId] : [])));
    if (jobs.size > probes) yield broken(`${jobs.size} jobs started while their circuit was open, by ${probes} probes`);
  }
}

const broken = (detail: string): Violation => ({ invariant: "C13", detail });

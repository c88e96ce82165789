import { limits } from "./limits.ts";
import type { Claimed, Looked, Message } from "./ports.ts";
import { wakeHeld } from "./relay.ts";
import type { Bench } from "./worker.ts";

/** A readable message with the id the queue knows it by. */
export interface Arrived {
  readonly messageId: string;
  readonly message: Message;
}

export interface ClaimedBatch {
  readonly running: readonly Claimed[];
  /** Lost a worker in a batch before: to be claimed alone, after the others. */
  readonly suspects: readonly Arrived[];
  /** Message ids to return: the claim's outcome is not known. */
  readonly giveBack: readonly string[];
}

/**
 * One claim for the batch, then one look at the rows it did not return.
 * A message is never given back in order to wait: early by little sleeps, early by more is sent anew.
 */
export async function claimBatch(
  bench: Bench,
  arrived: readonly Arrived[],
  remainingMs: () => number,
  options: { alone?: boolean } = {},
): Promise<ClaimedBatch> {
  const alone = options.alone ?? arrived.length === 1;
  const first = await claimOnce(bench, arrived, alone);
  const wait = Math.min(first.earlyMs, remainingMs());
  if (first.early.length === 0) return first;
  await bench.ports.clock.sleep(wait, bench.stopping);
  const second = await claimOnce(bench, first.early, alone);
  const late = await sendAnew(
    bench,
    second.early.map((item) => ({ item, delayMs: second.earlyMs })),
  );
  return {
    running: [...first.running, ...second.running],
    suspects: [...first.suspects, ...second.suspects],
    giveBack: [...first.giveBack, ...second.giveBack, ...late],
  };
}

interface Round extends ClaimedBatch {
  readonly early: readonly Arrived[];
  readonly earlyMs: number;
}

async function claimOnce(bench: Bench, arrived: readonly Arrived[], alone: boolean): Promise<Round> {
  const none: Round = { running: [], suspects: [], giveBack: [], early: [], earlyMs: 0 };
  if (arrived.length === 0) return none;
  const { store, log } = bench.ports;
  try {
    const rows = await store.claim(unique(arrived), { worker: bench.options.worker, alone });
    const running = rows.filter((row) => row.state === "RUNNING");
    for (const job of running) bench.heart.hold(job);
    await noteRefused(bench, rows);
    const taken = new Set(rows.map((row) => row.jobId));
    const left = arrived.filter((item) => !taken.has(item.message.jobId));
    if (left.length === 0) return { ...none, running };
    const looked = await store.look(left.map((item) => item.message.jobId));
    return { ...(await sort(bench, left, looked)), running };
  } catch (error) {
    log.error("claim failed; the messages are given back", { messages: arrived.length, error });
    return { ...none, giveBack: arrived.map((item) => item.messageId) };
  }
}

/** What a claim refused: counted by reason, and the slots looked at again, since one may have been freed meanwhile. */
async function noteRefused(bench: Bench, rows: readonly Claimed[]): Promise<void> {
  const refused = rows.filter((row) => row.state !== "RUNNING");
  for (const row of refused) {
    bench.ports.metrics.add("job.refused", 1, "Count", { job: row.kind, reason: row.reason ?? "slot" });
    if (row.reason === "lock-held") bench.ports.metrics.add("scheduler.lock.failed", 1, "Count", { job: row.kind });
  }
  const keys = new Set(refused.filter((row) => row.state === "PENDING").flatMap((row) => row.slotKeys));
  if (keys.size > 0) await wakeHeld(bench.ports, { slotKeys: [...keys] });
}

async function sort(
  bench: Bench,
  left: readonly Arrived[],
  looked: readonly Looked[],
): Promise<Omit<Round, "running">> {
  const rows = new Map(looked.map((row) => [row.jobId, row]));
  const suspects: Arrived[] = [];
  const early: Arrived[] = [];
  const later: { item: Arrived; delayMs: number }[] = [];
  const giveBack: string[] = [];
  let earlyMs = 0;
  for (const item of left) {
    const row = rows.get(item.message.jobId);
    if (row === undefined || row.state !== "QUEUED" || row.generation !== item.message.generation) continue;
    if (row.dueInMs > limits.earlyMessageWaitMsMax) later.push({ item, delayMs: row.dueInMs });
    else if (row.dueInMs > 0) {
      early.push(item);
      earlyMs = Math.max(earlyMs, row.dueInMs);
    } else if (row.suspect) suspects.push(item);
    else giveBack.push(item.messageId);
  }
  giveBack.push(...(await sendAnew(bench, later)));
  return { suspects, early, earlyMs, giveBack };
}

/** The same message again, later. @returns the ids to give back, because the queue did not take them. */
async function sendAnew(bench: Bench, items: readonly { item: Arrived; delayMs: number }[]): Promise<string[]> {
  const giveBack: string[] = [];
  for (let from = 0; from < items.length; from += limits.sendBatchMax) {
    const page = items.slice(from, from + limits.sendBatchMax);
    try {
      const { failed } = await bench.ports.queue.send(
        bench.options.lane,
        page.map(({ item, delayMs }) => ({ ...item.message, delayMs })),
      );
      giveBack.push(...failed.flatMap((index) => page[index]?.item.messageId ?? []));
    } catch (error) {
      bench.ports.log.warn("early messages could not be sent anew; they are given back", { error });
      giveBack.push(...page.map(({ item }) => item.messageId));
    }
  }
  return giveBack;
}

function unique(arrived: readonly Arrived[]): readonly Message[] {
  const byJob = new Map<string, Message>();
  for (const { message } of arrived) byJob.set(`${message.jobId}:${message.generation}`, message);
  return [...byJob.values()];
}

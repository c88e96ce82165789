import { isFinal } from "../../src/machine/state.ts";
import type { Evidence, Violation } from "./evidence.ts";

/** C1: every acknowledged enqueue has a job; no job without an enqueue, a schedule, a run, or a parent that succeeded. */
export function* enqueued(evidence: Evidence): Generator<Violation> {
  const jobs = new Map(evidence.jobs.map((job) => [job.id, job]));
  const runs = new Set<string | null | undefined>(evidence.runs?.map(({ id }) => id));
  const asked = new Set(evidence.enqueues.filter((one) => one.answer !== "refused").map((one) => one.mark));
  for (const { mark, kind, key, answer } of evidence.enqueues) {
    if (answer === null || answer === "refused") continue;
    const job = jobs.get(answer.id);
    if (job === undefined) yield broken(`enqueue ${mark} was acknowledged as job ${answer.id}, which does not exist`);
    else if (
      job.kind !== kind ||
      job.key !== key ||
      (answer.created && job.mark !== mark && kind !== evidence.flow?.bursts.kind)
    )
      yield broken(
        `enqueue ${mark} was acknowledged as job ${answer.id}, which is another job (${job.kind}, ${job.mark})`,
      );
  }
  for (const job of evidence.jobs) {
    if (job.scheduleId !== null || (job.runId ?? null) !== null) continue;
    if ((job.followsRun ?? null) !== null) {
      if (!runs.has(job.followsRun)) yield broken(`job ${job.id} follows run ${job.followsRun}, which does not exist`);
    } else if (job.parentId !== null) {
      const parent = jobs.get(job.parentId);
      if (parent?.state === "SUCCESS" && (job.parentAttempt ?? parent.attempt) !== parent.attempt)
        yield broken(
          `job ${job.id} was left by try ${job.parentAttempt} of ${parent.id}, whose try ${parent.attempt} succeeded`,
        );
      if (parent?.state !== "SUCCESS")
        yield broken(`job ${job.id} is a child of ${job.parentId}, which is ${parent?.state}`);
    } else if (job.mark === null || !asked.has(job.mark)) {
      yield broken(`job ${job.id} (${job.kind}, ${job.mark}) was enqueued by no client`);
    }
  }
  yield* childrenComplete(evidence);
}

function* childrenComplete(evidence: Evidence): Generator<Violation> {
  const children = Map.groupBy(
    evidence.jobs.filter((job) => job.parentId !== null),
    (job) => job.parentId,
  );
  for (const job of evidence.jobs) {
    const expected = evidence.childrenOf.get(job.kind);
    if (expected === undefined || job.state !== "SUCCESS") continue;
    const found = children.get(job.id)?.length ?? 0;
    if (found !== expected) yield broken(`job ${job.id} succeeded with ${found} children, not ${expected}`);
  }
}

/** C2: after faults end, every job that was due is terminal. (A job that waits for a cap gets it in the end.) */
export function* ended(evidence: Evidence): Generator<Violation> {
  for (const job of evidence.jobs) {
    if (isFinal(job.state) || job.dueAt >= evidence.endedBefore) continue;
    const held = job.hold === "none" ? "" : `, held: ${job.hold}`;
    yield { invariant: "C2", detail: `job ${job.id} (${job.kind}) is still ${job.state}${held}` };
  }
}

/** C6: a QUEUED job that is due has a message out or an open outbox batch. `messages` are those in the queues now. */
export function* handedOff(
  evidence: Evidence,
  messages: readonly { readonly jobId: string; readonly generation: number }[],
): Generator<Violation> {
  const out = [...messages, ...evidence.openBatches.flatMap(({ members }) => members)];
  const known = new Set(out.map((message) => `${message.jobId}/${message.generation}`));
  for (const job of evidence.jobs) {
    if (job.state !== "QUEUED" || job.dueAt >= evidence.endedBefore || known.has(`${job.id}/${job.generation}`))
      continue;
    yield { invariant: "C6", detail: `job ${job.id} (${job.kind}) is QUEUED and no message is out` };
  }
}

const broken = (detail: string): Violation => ({ invariant: "C1", detail });

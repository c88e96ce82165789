import type { Evidence, Violation } from "./evidence.ts";

/**
 * C5: one logical effect has one key, and a try calls its target once. Transactional effects exist exactly once for
 * each job that succeeded and for no other.
 */
export function* effects(evidence: Evidence): Generator<Violation> {
  const seen = new Set<string>();
  const keys = new Map<string, string>();
  for (const { key, jobId, attempt } of evidence.effects) {
    const other = keys.get(jobId);
    if (other !== undefined && other !== key) yield broken(`job ${jobId} used two keys: ${other} and ${key}`);
    keys.set(jobId, key);
    if (seen.has(`${key}/${attempt}`)) yield broken(`attempt ${attempt} of job ${jobId} made the effect ${key} twice`);
    seen.add(`${key}/${attempt}`);
  }
  const written = Map.groupBy(evidence.transactional, (effect) => effect.jobId);
  for (const job of evidence.jobs) {
    if (!evidence.transactionalKinds.includes(job.kind)) continue;
    const count = written.get(job.id)?.length ?? 0;
    const expected = job.state === "SUCCESS" ? 1 : 0;
    if (count !== expected) yield broken(`job ${job.id} is ${job.state} and wrote ${count} transactional effects`);
  }
}

const broken = (detail: string): Violation => ({ invariant: "C5", detail });

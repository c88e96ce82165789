import type { Evidence, Violation } from "./evidence.ts";

/** C9: fence tokens grow in commit order, each has one holder, and no process takes a lock from a holder that kept it within its lease. */
export function* fenceTokens(evidence: Evidence): Generator<Violation> {
  const newest = new Map<string, number>();
  const holders = new Map<string, string>();
  for (const { name, token, by } of evidence.fenced) {
    const holder = holders.get(`${name}/${token}`) ?? by;
    if (holder !== by) yield broken(`${name}: ${holder} and ${by} both wrote with token ${token}`);
    if (holder !== undefined) holders.set(`${name}/${token}`, holder);
    const last = newest.get(name) ?? 0;
    if (token < last) yield broken(`${name}: a write with token ${token} committed after one with ${last}`);
    newest.set(name, Math.max(last, token));
  }
  yield* takeovers(evidence);
}

function* takeovers(evidence: Evidence): Generator<Violation> {
  const held = new Map<string, { owner: string; until: number; leaseMs: number }>();
  for (const fact of evidence.locks) {
    const holder = held.get(fact.name);
    if (fact.is === "taken") {
      if (holder !== undefined && holder.owner !== fact.owner && fact.at < holder.until)
        yield broken(
          `${fact.name}: ${fact.owner} took it ${holder.until - fact.at} ms before the lease of ${holder.owner} ended`,
        );
      held.set(fact.name, { owner: fact.owner, until: fact.at + fact.leaseMs, leaseMs: fact.leaseMs });
    } else if (fact.is === "kept" && holder?.owner === fact.owner) {
      held.set(fact.name, { ...holder, until: fact.at + holder.leaseMs });
    } else if (fact.is === "damaged" || holder?.owner === ("owner" in fact ? fact.owner : "")) {
      held.delete(fact.name);
    }
  }
}

const broken = (detail: string): Violation => ({ invariant: "C9", detail });

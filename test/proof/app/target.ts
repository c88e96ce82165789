import { existsSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Context } from "belfry";

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** Reports to the outside target what this handler does, with its idempotency key. Resolves when the target has it on file. */
export function tell(what: "effect" | "start" | "stop", ctx: Context, note = ""): Promise<void> {
  const url = process.env["BELFRY_PROOF_LEDGER"];
  if (url === undefined) throw new Error("BELFRY_PROOF_LEDGER is not set: the harness sets it to its ledger's address");
  const key = without("key") ? `${ctx.jobId}:${Math.random()}` : ctx.effectKey(what);
  const record = { what, key, job: ctx.jobId, attempt: ctx.attempt, pid: process.pid, note };
  return new Promise((resolve, reject) => {
    const call = request(url, { method: "POST", agent }, (response) => {
      response.resume();
      response.on("end", resolve);
      response.on("error", reject);
    });
    call.on("error", reject);
    call.end(JSON.stringify(record));
  });
}

/** Until the case lets the handlers go on: it writes this file. */
export async function opened(gate: string): Promise<void> {
  while (!existsSync(gate)) await wait(20);
}

/** Settings that the short leases of a quick proof need, and that `--defaults` leaves out. */
export const quick = process.env["BELFRY_PROOF_DEFAULTS"] === "1" ? {} : ({ lease: "2s" } as const);

/** Which guard is taken away, so that a case can show that it would notice. */
export const without = (guard: string): boolean => process.env["BELFRY_PROOF_WITHOUT"] === guard;

import { existsSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Context } from "belfry";
import { z } from "zod";

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

/** The same with as many tries as kills may need, one soon after the other. */
export const tries = { ...quick, retry: { maxAttempts: 30, backoff: "fixed", base: "100ms" } } as const;

/** A job whose effect is its number. */
export const counted = {
  payload: z.object({ n: z.number() }),
  run: ({ n }: { readonly n: number }, ctx: Context) => tell("effect", ctx, String(n)),
};

/** A job of a schedule, whose effect is its time. */
export const timed = {
  run: (_: unknown, ctx: Context & { readonly scheduledFor: Date }) =>
    tell("effect", ctx, ctx.scheduledFor.toISOString()),
};

/** Which guard is taken away, so that a case can show that it would notice. */
export const without = (guard: string): boolean => process.env["BELFRY_PROOF_WITHOUT"] === guard;

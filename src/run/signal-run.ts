import type { Registry } from "../define/definition.ts";
import { InvalidPayload } from "../define/errors.ts";
import { checkedJson, checkPayload } from "../define/payload.ts";
import type { RunId } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Ports } from "../machine/ports.ts";
import { sealValue } from "../machine/seal.ts";
import type { Signaled } from "../machine/run.ts";
import type { Actor } from "../machine/transaction.ts";
import { type AfterCommitPorts, afterCommit } from "./after-commit.ts";

export interface SignaledRun {
  readonly id: RunId;
  /** Of its graph. */
  readonly kind: string;
}

/**
 * Sends a signal to a run, and its task on its way. Where this release defines the task, the payload is checked by its schema;
 * the task checks it in any case.
 * @throws InvalidPayload; RangeError for a payload beyond the limits.
 */
export async function signalRun(
  ports: AfterCommitPorts & Pick<Ports, "seals">,
  registry: Registry,
  { id, kind }: SignaledRun,
  { name, payload, caller }: Actor & { readonly name: string; readonly payload: unknown },
): Promise<Signaled> {
  const task = `${kind}.${name}`;
  const stored = checkedJson(task, payload);
  const definition = registry.jobs.get(task);
  if (definition?.body.is === "task" && definition.body.wait?.forSignal === true) {
    const checked = await checkPayload(definition.schema ?? undefined, stored);
    if (!checked.ok) throw new InvalidPayload(task, checked.issues);
  }
  const seal = definition?.seal ?? null;
  const kept = seal === null ? stored : await sealValue(ports.seals, seal, stored, contractLimits.payloadBytesMax);
  const signaled = await ports.store.signal(id, name, { payload: kept, caller: caller ?? null });
  if (signaled.is === "taken") await afterCommit(ports, signaled.aftermath);
  return signaled;
}

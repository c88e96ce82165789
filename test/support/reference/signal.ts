import { isDeepStrictEqual } from "node:util";
import type { RunId } from "../../../src/machine/job.ts";
import { reasons } from "../../../src/machine/reasons.ts";
import type { RunStore, Signaled } from "../../../src/machine/run.ts";
import { runNow } from "./lanes.ts";
import { idOf, type Tables } from "./tables.ts";

/** The first signal of a name is the payload of the task that waits for it. */
export function signal(
  t: Tables,
  id: RunId,
  name: string,
  { payload, caller = null }: Parameters<RunStore["signal"]>[2],
): Signaled {
  const runState = t.runs.get(Number(id))?.state;
  const row = t.inRun(Number(id)).find(({ task }) => task === name);
  if (runState === undefined || row?.wait?.forSignal !== true) return { is: "unknown" };
  const jobId = idOf(row);
  const { signaledAt: at, signaledBy: by, state } = row;
  if (at !== null) return { is: isDeepStrictEqual(row.payload, payload) ? "repeated" : "conflict", jobId, at, by };
  if (runState !== "RUNNING" || !["PENDING", "QUEUED", "RETRY_WAIT"].includes(state))
    return { is: "late", jobId, state, runState };
  t.change(row, { payload, signaledAt: t.now(), signaledBy: caller });
  return { is: "taken", jobId, aftermath: runNow(t, [jobId], { caller }, reasons.signal).aftermath };
}

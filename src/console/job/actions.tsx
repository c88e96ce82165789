import { useState } from "preact/hooks";
import { cancelJob, retryJob, runJobNow } from "../client.ts";
import { currentTime } from "../clock.ts";
import { useKeys } from "../keys.ts";
import { confirmed } from "../parts/confirm.tsx";
import { say, sayFailed } from "../parts/toast.tsx";
import { EditedCopy } from "./edited-copy.tsx";
import { isJobOver, type ShownJobDetail, mayRetry } from "../shape.ts";

interface ActionsProps {
  readonly job: ShownJobDetail;
  readonly onDone: () => void;
}

/** What may be done with the job in its state; the keys do the same. */
export function Actions({ job, onDone }: ActionsProps) {
  const { id, kind, state } = job;
  const [isEditing, setEditing] = useState(false);
  const act = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      say(`${kind} ${id}: ${what}`);
    } catch (error) {
      sayFailed(`${kind} ${id} was not ${what}`, error);
    }
    onDone();
  };
  const retry = (): void => void (mayRetry(state) && act("retried", () => retryJob(id)));
  const runNow = (): void => void (isEarly(job) && act("made due", () => runJobNow(id)));
  const cancel = async (): Promise<void> => {
    if (isJobOver(state)) return;
    const text = state === "RUNNING" ? "Its handler is aborted; its outside effects remain." : "It will not run.";
    if (await confirmed({ title: `Cancel ${kind} ${id}?`, text, action: "Cancel the job", danger: true })) {
      await act("canceled", () => cancelJob(id));
    }
  };
  useKeys([
    { keys: "r", does: "Retry the job", run: retry },
    { keys: "n", does: "Run the job now", run: runNow },
    { keys: "c", does: "Cancel the job", run: () => void cancel() },
  ]);
  return (
    <div class="actions">
      {isEditing ? <EditedCopy job={job} onClose={() => setEditing(false)} /> : null}
      {isJobOver(state) ? (
        <button type="button" class="button" onClick={() => setEditing(true)}>
          Run with another payload
        </button>
      ) : null}
      {isEarly(job) ? (
        <button type="button" class="button" onClick={runNow}>
          Run now
        </button>
      ) : null}
      {isJobOver(state) ? null : (
        <button type="button" class="button danger" onClick={() => void cancel()}>
          Cancel
        </button>
      )}
      {mayRetry(state) ? (
        <button type="button" class="button primary" onClick={retry}>
          Retry
        </button>
      ) : null}
    </div>
  );
}

const isEarly = ({ state, dueAt }: ShownJobDetail): boolean =>
  !isJobOver(state) && state !== "RUNNING" && Date.parse(dueAt) > currentTime();

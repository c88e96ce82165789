import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { enqueueCopy } from "../client.ts";
import { Dialog } from "../parts/dialog.tsx";
import { say } from "../parts/toast.tsx";
import type { ShownJobDetail } from "../shape.ts";

interface EditedCopyProps {
  readonly job: ShownJobDetail;
  readonly onClose: () => void;
}

/** A new job of the same kind with a payload that is changed by hand. Its key names the job it comes from. */
export function EditedCopy({ job, onClose }: EditedCopyProps) {
  const { route } = useLocation();
  const [text, setText] = useState(() => JSON.stringify(job.payload ?? null, null, 2));
  const [problem, setProblem] = useState<string | null>(null);
  const [isSent, setSent] = useState(false);
  const send = async (close: () => void): Promise<void> => {
    const payload = parsed(text);
    if (payload === undefined) {
      setProblem("This is not JSON: check quotes and commas.");
      return;
    }
    setSent(true);
    try {
      const made = await enqueueCopy(job, payload);
      say(`${job.kind} ${made.id}: enqueued from job ${job.id}`);
      close();
      route(addresses.job(made.id));
    } catch (error) {
      setSent(false);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title={`New ${job.kind} with another payload`} onClose={onClose}>
      {(close) => (
        <>
          <div class="dialog-text">
            <p>{`Job ${job.id} stays as it is. The new one is named after it.`}</p>
            <textarea
              class="field payload-field"
              aria-label="Payload"
              rows={10}
              spellcheck={false}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            {problem === null ? null : (
              <p class="problem" role="alert">
                {problem}
              </p>
            )}
          </div>
          <div class="dialog-foot">
            <button type="button" class="button" onClick={close}>
              Don’t enqueue
            </button>
            <button type="button" class="button primary" disabled={isSent} onClick={() => void send(close)}>
              Enqueue the job
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

/** Undefined for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

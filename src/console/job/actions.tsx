import { acting, Button, confirm, later, say, soon } from "../parts/index.ts";
import { useState } from "preact/hooks";
import { currentTime } from "../clock.ts";
import { ask } from "../http.ts";
import { useKeys } from "../keys.ts";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { isJobOver, mayRetry } from "../jobs/state.ts";
import { words } from "../language/words.ts";

const EnqueueForm = later(async () => (await import("../jobs/enqueue-form.tsx")).EnqueueForm);

/** What may be done with the job in its state; the keys do the same. */
export function Actions({ job, onDone }: { readonly job: JobDetailReply; readonly onDone: () => void }) {
  const { id, kind, state } = job;
  const [isRetrying, setRetrying] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const name = `${kind} ${id}`;
  const act = (done: string, at: "retry" | "run-now" | "cancel"): Promise<void> =>
    acting(words.shared.notChanged(name), () => ask(`POST /jobs/:id/${at}`, { id }).then(() => say(done))).then(onDone);
  const retry = async (): Promise<void> => {
    if (!mayRetry(state) || isRetrying) return;
    setRetrying(true);
    if (await soon(words.job.willRetry(name))) await act(words.job.retried(name), "retry");
    setRetrying(false);
  };
  const runNow = (): void => void (isEarly(job) && act(words.job.madeDue(name), "run-now"));
  const cancel = async (): Promise<void> => {
    if (isJobOver(state)) return;
    const text = state === "RUNNING" ? words.job.aborted : words.job.willNotRun;
    if (await confirm({ title: words.job.cancelQuestion(name), text, action: words.job.cancelJob, danger: true }))
      await act(words.job.canceled(name), "cancel");
  };
  useKeys([
    { keys: "r", does: words.shared.retry, run: () => void retry() },
    { keys: "n", does: words.shared.runNow, run: runNow },
    { keys: "c", does: words.job.cancelJob, run: () => void cancel() },
  ]);
  return (
    <div class="line actions">
      {isEditing ? <EnqueueForm source={job} onClose={() => setEditing(false)} /> : null}
      {isJobOver(state) ? <Button text={words.job.anotherPayload} onClick={() => setEditing(true)} /> : null}
      {isEarly(job) ? <Button text={words.shared.runNow} onClick={runNow} /> : null}
      {isJobOver(state) ? null : <Button text={words.shared.cancel} look="danger" onClick={() => void cancel()} />}
      {mayRetry(state) ? (
        <Button text={words.shared.retry} look="primary" disabled={isRetrying} onClick={() => void retry()} />
      ) : null}
    </div>
  );
}

/** The next probe of an open circuit is sent by hand too. */
const isEarly = ({ state, dueAt, explanation }: JobDetailReply): boolean =>
  !isJobOver(state) &&
  state !== "RUNNING" &&
  (Date.parse(dueAt) > currentTime() || explanation?.cause === "circuit-open");

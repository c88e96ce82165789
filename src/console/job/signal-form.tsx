import { useState } from "preact/hooks";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import { FormDialog, say } from "../parts/index.ts";
import { KindAndPayload, payloadIn, type Written } from "../payload/payload-form.tsx";

interface SignalFormProps {
  readonly run: string;
  /** The task that waits for it, and its kind. */
  readonly task: string;
  readonly kind: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** What a task waits for, with the payload that it asks for. */
export function SignalForm({ run, task, kind, onDone, onClose }: SignalFormProps) {
  const [written, setWritten] = useState<Written>({ payload: undefined });
  const send = async (): Promise<void> => {
    const body = { payload: payloadIn(written) };
    const { isFirst } = await ask("POST /runs/:id/signals/:name", { id: run, name: task }, { body });
    say(isFirst ? words.job.signaled(task) : words.job.wasSignaled(task));
    onDone();
  };
  return (
    <FormDialog title={words.job.signal(task)} action={words.job.send} onSend={send} onClose={onClose}>
      <p>{words.job.signalText}</p>
      <KindAndPayload kind={kind} onChange={setWritten} />
    </FormDialog>
  );
}

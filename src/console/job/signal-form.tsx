import { useState } from "preact/hooks";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import { FormDialog, Loaded, say } from "../parts/index.ts";
import { PayloadForm, type Written } from "../payload/payload-form.tsx";
import { useAnswer } from "../resource.ts";

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
  const kinds = useAnswer("GET /kinds", {}, { again: "never" });
  const [written, setWritten] = useState<Written>({ payload: undefined });
  const send = async (): Promise<void> => {
    if ("problem" in written) throw new Error(written.problem);
    const { payload } = written;
    const body = payload === undefined ? {} : { payload };
    const { isFirst } = await ask("POST /runs/:id/signals/:name", { id: run, name: task }, { body });
    say(isFirst ? words.job.signaled(task) : words.job.wasSignaled(task));
    onDone();
  };
  return (
    <FormDialog title={words.job.signal(task)} action={words.job.send} onSend={send} onClose={onClose}>
      <p>{words.job.signalText}</p>
      <Loaded of={kinds}>
        {({ kinds: all }) => {
          const asks = all.find(({ id }) => id === kind);
          return (
            <PayloadForm schema={asks === undefined ? {} : asks.payload} initial={undefined} onChange={setWritten} />
          );
        }}
      </Loaded>
    </FormDialog>
  );
}

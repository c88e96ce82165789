import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import { FormDialog, say, TextField } from "../parts/index.ts";
import { KindAndPayload, payloadIn, type Written } from "../payload/payload-form.tsx";
import type { JobReply } from "../../api/shape/job.ts";

interface EnqueueFormProps {
  /** Whose kind and payload it begins with. The new job's key names it; it stays as it is. */
  readonly source?: Pick<JobReply, "id" | "kind"> & { readonly payload: unknown };
  readonly onClose: () => void;
}

/** A new job: of any kind, or a copy of another with a payload that is changed by hand. */
export function EnqueueForm({ source, onClose }: EnqueueFormProps) {
  const { route } = useLocation();
  const [kind, setKind] = useState(source?.kind ?? "");
  const [written, setWritten] = useState<Written>({ payload: source?.payload });
  const [key, setKey] = useState(() => (source === undefined ? "" : `copy-of-${source.id}-${Date.now()}`));
  const [delay, setDelay] = useState("");
  const choose = (next: string): void => {
    setKind(next);
    setWritten({ payload: undefined });
  };
  const send = async (): Promise<void> => {
    const payload = payloadIn(written);
    const body = { kind, payload, ...(key === "" ? {} : { key }), ...(delay === "" ? {} : { delay }) };
    const { id, created, joined } = await ask("POST /jobs", {}, { body });
    const is = created ? "done" : joined === null ? "existed" : "joined";
    say(words.enqueue[is](`${kind} ${id}`));
    route(addresses.job(id));
  };
  return (
    <FormDialog
      title={source === undefined ? words.enqueue.open : words.enqueue.copyTitle(source.kind)}
      action={words.enqueue.open}
      onSend={send}
      onClose={onClose}
    >
      {source === undefined ? null : <p>{words.enqueue.copyText(source.id)}</p>}
      <KindAndPayload
        kind={kind}
        {...(source === undefined ? { onKind: choose } : { initial: source.payload })}
        onChange={setWritten}
      />
      <TextField name={words.labels.key} hint={words.enqueue.keyHint} value={key} onWrite={setKey} />
      <TextField name={words.enqueue.delay} hint={words.enqueue.delayHint} value={delay} onWrite={setDelay} />
    </FormDialog>
  );
}

import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import { FormDialog, FormField, Loaded, say, Select, TextField } from "../parts/index.ts";
import { PayloadForm, type Written } from "../payload/payload-form.tsx";
import { useAnswer } from "../resource.ts";
import type { JobReply } from "../../api/shape/job.ts";

interface EnqueueFormProps {
  /** Whose kind and payload it begins with. The new job's key names it; it stays as it is. */
  readonly source?: Pick<JobReply, "id" | "kind"> & { readonly payload: unknown };
  readonly onClose: () => void;
}

/** A new job: of any kind, or a copy of another with a payload that is changed by hand. */
export function EnqueueForm({ source, onClose }: EnqueueFormProps) {
  const { route } = useLocation();
  const kinds = useAnswer("GET /kinds", {}, { again: "never" });
  const [kind, setKind] = useState(source?.kind ?? "");
  const [written, setWritten] = useState<Written>({ payload: source?.payload });
  const [key, setKey] = useState(() => (source === undefined ? "" : `copy-of-${source.id}-${Date.now()}`));
  const [delay, setDelay] = useState("");
  const send = async (): Promise<void> => {
    if ("problem" in written) throw new Error(written.problem);
    const body = { kind, payload: written.payload, ...(key === "" ? {} : { key }), ...(delay === "" ? {} : { delay }) };
    const { id, created, joined } = await ask("POST /jobs", {}, { body });
    const is = created ? "done" : joined === null ? "existed" : "joined";
    say(words.enqueue[is](`${kind} ${id}`));
    route(addresses.job(id));
  };
  const { open, action } = words.enqueue;
  return (
    <FormDialog
      title={source === undefined ? open : words.enqueue.copyTitle(source.kind)}
      action={action}
      onSend={send}
      onClose={onClose}
    >
      {source === undefined ? null : <p>{words.enqueue.copyText(source.id)}</p>}
      <Loaded of={kinds}>
        {({ kinds: all }) => {
          const chosen = all.find(({ id }) => id === kind);
          return (
            <>
              {source === undefined ? (
                <FormField name={words.labels.kind} isRequired>
                  <Select
                    isRequired
                    value={kind}
                    of={[["", "–"], ...all.filter(({ startable }) => startable).map(({ id }) => [id, id] as const)]}
                    onChoose={(next) => {
                      setKind(next);
                      setWritten({ payload: undefined });
                    }}
                  />
                </FormField>
              ) : null}
              {kind === "" ? null : (
                <PayloadForm
                  key={kind}
                  schema={chosen === undefined ? {} : chosen.payload}
                  initial={source?.payload}
                  onChange={setWritten}
                />
              )}
            </>
          );
        }}
      </Loaded>
      <TextField name={words.labels.key} hint={words.enqueue.keyHint} value={key} onWrite={setKey} />
      <TextField name={words.enqueue.delay} hint={words.enqueue.delayHint} value={delay} onWrite={setDelay} />
    </FormDialog>
  );
}

import { useState } from "preact/hooks";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import { FormDialog, say, TextField } from "../parts/index.ts";

interface CapFormProps {
  readonly kind: string;
  readonly size: number;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** How many jobs of a kind run at once, until the next release brings its own number. */
export function CapForm({ kind, size, onClose, onDone }: CapFormProps) {
  const [wanted, setWanted] = useState(String(size));
  const send = async (): Promise<void> => {
    await ask("PUT /caps/:kind", { kind }, { body: { size: Number(wanted) } });
    say(words.caps.changed(kind, wanted));
    onDone();
  };
  return (
    <FormDialog title={words.caps.title(kind)} action={words.caps.action} onSend={send} onClose={onClose}>
      <TextField
        name={words.caps.size}
        hint={words.caps.hint}
        isRequired
        value={wanted}
        onWrite={setWanted}
        own={{ type: "number", min: 1 }}
      />
    </FormDialog>
  );
}

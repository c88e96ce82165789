import { Form } from "./form.tsx";
import { Button } from "./button.tsx";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { words } from "../language/words.ts";
import { Dialog } from "./dialog.tsx";

interface FormDialogProps {
  readonly title: string;
  /** The verb on the button. */
  readonly action: string;
  /** Rejects with what is wrong: it is shown, and the form stays. Closed after it resolved. */
  readonly onSend: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A form in a dialog: sent once at a time, with what was refused above its buttons. */
export function FormDialog({ title, action, onSend, onClose, children }: FormDialogProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const send = async (close: () => void): Promise<void> => {
    setSending(true);
    setProblem(null);
    try {
      await onSend();
      close();
    } catch (error) {
      setSending(false);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title={title} onClose={onClose} wide>
      {(close) => (
        <Form onSend={() => void send(close)}>
          <div class="dialog-text dialog-fields">
            {children}
            {problem === null ? null : (
              <p class="problem" role="alert">
                {problem}
              </p>
            )}
          </div>
          <div class="dialog-foot">
            <Button text={words.shared.keepAsIs} onClick={close} />
            <Button text={action} look="primary" disabled={isSending} />
          </div>
        </Form>
      )}
    </Dialog>
  );
}

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { words } from "../language/words.ts";
import { Facts } from "./card.tsx";
import { Button, Form, IconButton, TextField } from "./form.tsx";
import { signal } from "@preact/signals";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Closed by `close` only: a dialog that is just taken away keeps the focus, which is then nowhere. */
  readonly children: (close: () => void) => ComponentChildren;
  readonly wide?: boolean;
}

/** A modal dialog of the browser's own: it keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const name = useId();
  const close = (): void => element.current?.close();
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} class={wide ? "dialog wide" : "dialog"} aria-labelledby={name} onClose={onClose}>
      <div class="line dialog-head">
        <h2 id={name}>{title}</h2>
        <IconButton icon="close" text={words.shared.close} onClick={close} />
      </div>
      {children(close)}
    </dialog>
  );
}

interface FormDialogProps {
  readonly title: string;
  /** The verb on the button. */
  readonly action: string;
  /** Rejects with what is wrong: it is shown, and the form stays. Closed after it resolved. */
  readonly onSend: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
  readonly danger?: boolean;
}

/** A form in a dialog: sent once at a time, with what was refused above its buttons. */
export function FormDialog({ action, onSend, children, wide = true, danger = false, ...dialog }: FormDialogProps) {
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
    <Dialog {...dialog} wide={wide}>
      {(close) => (
        <Form onSend={() => void send(close)}>
          <div class="dialog-text">
            {children}
            {problem === null ? null : (
              <p class="problem" role="alert">
                {problem}
              </p>
            )}
          </div>
          <div class="dialog-foot">
            <Button text={words.shared.keepAsIs} onClick={close} />
            <Button text={action} look={`primary ${danger ? "danger" : ""}`} disabled={isSending} />
          </div>
        </Form>
      )}
    </Dialog>
  );
}

export interface QuestionField {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  /** Its answer is `yes`, or nothing. */
  readonly isCheck?: boolean;
}

export interface Question {
  /** Left out where the button says it whole. */
  readonly title?: string;
  /** What will happen, with numbers. */
  readonly text: string;
  /** What it concerns, name by name. */
  readonly facts?: readonly (readonly [string, string])[];
  /** What may be written with the answer. */
  readonly fields?: readonly QuestionField[];
  /** The verb on the button. */
  readonly action: string;
  readonly danger?: boolean;
}

/** What was written, by the field's id; null for a no. */
type Answer = Readonly<Record<string, string>> | null;

interface Asked {
  /** The next question may come before the browser reports that the dialog of this one was closed. */
  readonly number: number;
  readonly question: Question;
  readonly answer: (answer: Answer) => void;
}

const asked = signal<Asked | null>(null);
let questions = 0;

/** Asks before anything that cannot be taken back. Closing the dialog is a no. */
export const confirm = async (question: Question): Promise<boolean> => (await answerTo(question)) !== null;

/** The same for a question with fields. */
export function answerTo(question: Question): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  asked.value?.answer(null);
  questions += 1;
  asked.value = { number: questions, question, answer: resolve };
  return promise;
}

export const ConfirmDialog = () => (asked.value === null ? null : <Asking key={asked.value.number} {...asked.value} />);

function Asking({ number, question, answer }: Asked) {
  const [written, setWritten] = useState<Readonly<Record<string, string>>>({});
  const { action, title = action, text, facts = [], fields = [], danger = false } = question;
  const onSend = async (): Promise<void> => answer(written);
  // An answer that was given stands.
  const onClose = (): void => {
    if (asked.value?.number === number) asked.value = null;
    answer(null);
  };
  return (
    <FormDialog {...{ title, action, danger, onSend, onClose }} wide={false}>
      <p>{text}</p>
      {facts.length === 0 ? null : <Facts of={facts} />}
      {fields.map(({ id, name, hint, isCheck = false }) => {
        const value = written[id] ?? "";
        const write = (next: string): void => setWritten({ ...written, [id]: next });
        return isCheck ? (
          <label key={id} class="check-line">
            <input
              type="checkbox"
              checked={value !== ""}
              onChange={({ currentTarget }) => write(currentTarget.checked ? "yes" : "")}
            />
            <span>
              {name} <span class="small">{hint}</span>
            </span>
          </label>
        ) : (
          <TextField key={id} name={name} hint={hint} value={value} onWrite={write} />
        );
      })}
    </FormDialog>
  );
}

import { signal } from "@preact/signals";
import { Dialog } from "./dialog.tsx";

interface Question {
  readonly title: string;
  /** What will happen, with numbers. */
  readonly text: string;
  /** The verb on the button. */
  readonly action: string;
  readonly danger?: boolean;
}

interface Asked {
  /** Tells one question from the next, which may come before the browser has said that the last one's dialog closed. */
  readonly number: number;
  readonly question: Question;
  readonly answer: (yes: boolean) => void;
}

const asked = signal<Asked | null>(null);
let questions = 0;

/** Asks before anything that cannot be taken back. Closing the dialog is a no. */
export function confirmed(question: Question): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  asked.value?.answer(false);
  questions += 1;
  asked.value = { number: questions, question, answer: resolve };
  return promise;
}

export function ConfirmDialog() {
  if (asked.value === null) return null;
  const { number, question, answer } = asked.value;
  const close = (yes: boolean): void => {
    if (asked.value?.number === number) asked.value = null;
    answer(yes);
  };
  return (
    <Dialog key={number} title={question.title} onClose={() => close(false)}>
      <p class="dialog-text">{question.text}</p>
      <div class="dialog-foot">
        <button type="button" class="button" onClick={() => close(false)}>
          Keep as it is
        </button>
        <button
          type="button"
          class={question.danger === true ? "button primary danger" : "button primary"}
          onClick={() => close(true)}
        >
          {question.action}
        </button>
      </div>
    </Dialog>
  );
}

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

const asked = signal<{ question: Question; answer: (yes: boolean) => void } | null>(null);

/** Asks before anything that cannot be taken back. Closing the dialog is a no. */
export function confirmed(question: Question): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  asked.value?.answer(false);
  asked.value = { question, answer: resolve };
  return promise;
}

export function ConfirmDialog() {
  if (asked.value === null) return null;
  const { question, answer } = asked.value;
  const close = (yes: boolean): void => {
    asked.value = null;
    answer(yes);
  };
  return (
    <Dialog title={question.title} onClose={() => close(false)}>
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

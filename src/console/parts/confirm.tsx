import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { words } from "../language/words.ts";

interface Question {
  readonly title: string;
  /** What will happen, with numbers. */
  readonly text: string;
  /** What it concerns, name by name. */
  readonly facts?: readonly (readonly [string, string])[];
  /** The verb on the button. */
  readonly action: string;
  readonly danger?: boolean;
}

interface Asked {
  /** The next question may come before the browser reports that the dialog of this one was closed. */
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

export const ConfirmDialog = () => (asked.value === null ? null : <Asking key={asked.value.number} {...asked.value} />);

function Asking({ number, question, answer }: Asked) {
  const isYes = useRef(false);
  const onClose = (): void => {
    if (asked.value?.number === number) asked.value = null;
    answer(isYes.current);
  };
  return (
    <Dialog title={question.title} onClose={onClose}>
      {(close) => (
        <>
          <p class="dialog-text">{question.text}</p>
          {question.facts === undefined || question.facts.length === 0 ? null : (
            <dl class="facts dialog-facts">
              {question.facts.map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          )}
          <div class="dialog-foot">
            <button type="button" class="button" onClick={close}>
              {words.shared.keepAsIs}
            </button>
            <button
              type="button"
              class={question.danger === true ? "button primary danger" : "button primary"}
              onClick={() => {
                isYes.current = true;
                close();
              }}
            >
              {question.action}
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

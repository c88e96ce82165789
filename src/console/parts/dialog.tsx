import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { words } from "../language/words.ts";

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
        <button type="button" class="icon-button" onClick={close}>
          <Icon name="close" />
          <span class="hidden">{words.shared.close}</span>
        </button>
      </div>
      {children(close)}
    </dialog>
  );
}

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

/** A modal dialog of the browser's own: it keeps the focus inside and closes on Escape. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    // The browser gives the focus back only when it closes the dialog itself: an answer takes it away.
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <dialog ref={element} class={wide ? "dialog wide" : "dialog"} aria-labelledby={name} onClose={onClose}>
      <div class="dialog-head">
        <h2 id={name}>{title}</h2>
        <button type="button" class="icon-button" onClick={() => element.current?.close()}>
          <Icon name="close" />
          <span class="hidden">Close</span>
        </button>
      </div>
      {children}
    </dialog>
  );
}

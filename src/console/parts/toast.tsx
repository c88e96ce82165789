import type { ComponentChildren } from "preact";
import { Link } from "./marks.tsx";
import { signal } from "@preact/signals";
import { Button, IconButton } from "./form.tsx";
import { Icon } from "./icon.tsx";
import { words } from "../language/words.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
  /** Where the result can be seen. */
  readonly link: { readonly text: string; readonly href: string } | null;
  /** Takes it back; closing it does not. */
  readonly undo?: () => void;
}

const toasts = signal<readonly Toast[]>([]);
const shownMs = 8_000;
const toastsMax = 4;
let made = 0;

/** Says what a click did, and where its result is. One that went wrong stays until it is closed. */
export function say(text: string, link: Toast["link"] = null): void {
  const id = add({ text, link, isBad: false });
  setTimeout(() => dismiss(id), shownMs);
}

export function sayFailed(what: string, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  add({ text: why === "" ? what : `${what}: ${why}`, link: null, isBad: true });
}

const undoMs = 5_000;

/** Five seconds in which a click can be taken back; none when the page is left. @returns whether it stands */
export function soon(text: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stand = (): void => resolve(true);
  const id = add({ text, link: null, isBad: false, undo: () => resolve(false) });
  const timer = setTimeout(stand, undoMs);
  addEventListener("pagehide", stand);
  return promise.finally(() => {
    clearTimeout(timer);
    removeEventListener("pagehide", stand);
    dismiss(id);
  });
}

/** Does what a click asks for; what was refused is said. */
export const acting = (refused: string, work: () => Promise<void>): Promise<void> =>
  work().catch((error: unknown) => sayFailed(refused, error));

function add(toast: Omit<Toast, "id">): number {
  made += 1;
  toasts.value = [...toasts.value, { ...toast, id: made }].slice(-toastsMax);
  return made;
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

/** What is said, the newest last, below what goes on. */
export const Toasts = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="toasts" role="status" aria-live="polite" aria-atomic="false">
    {children}
    {toasts.value.map(({ id, text, link, isBad, undo }) => (
      <div key={id} class={`line toast${isBad ? " bad" : ""}`} role={isBad ? "alert" : undefined}>
        <Icon name={isBad ? "warning" : "SUCCESS"} />
        <span class="toast-text">{text}</span>
        {link === null ? null : <Link to={link.href} text={link.text} />}
        {undo === undefined ? null : <Button text={words.shared.undo} look="small" onClick={undo} />}
        <IconButton icon="close" size={14} text={words.shared.dismiss} onClick={() => dismiss(id)} />
      </div>
    ))}
  </div>
);

/** A text one wants elsewhere, with a button that takes it there. */
export const Copy = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <span class="line copy">
    <span class="mono one-line copy-text" title={text}>
      {text}
    </span>
    <IconButton icon="copy" size={13} look="small" text={label} onClick={() => void copy(text)} />
  </span>
);

export const copy = (text: string): Promise<void> =>
  acting(words.shared.notCopied, async () => {
    await navigator.clipboard.writeText(text);
    say(words.shared.copied);
  });

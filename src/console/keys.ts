import { type Signal, signal, useSignal } from "@preact/signals";
import { useLocation } from "preact-iso";
import { useEffect, useRef } from "preact/hooks";
import { words } from "./language/words.ts";
import { storedSignal } from "./remembered.ts";

/** One key, two pressed one after the other (`g j`), or one with Ctrl or Command (`Ctrl-K`), and what it does in words. */
export interface KeyBinding {
  readonly keys: string;
  readonly does: string;
  readonly run: () => void;
}

/** Single keys get in the way of some input methods, so they can be switched off. Escape and Tab always work. */
export const shortcuts = storedSignal("shortcuts", ["on", "off"], "on");

/** What is bound now, the newest first: the list under `?`. */
export const bindings = signal<readonly KeyBinding[]>([]);

/** Binds while the component is there. A later binding of the same keys wins. */
export function useKeys(bound: readonly KeyBinding[]): void {
  const latest = useRef(bound);
  latest.current = bound;
  useEffect(() => {
    const own = latest.current.map(({ keys, does }, index) => {
      return { keys, does, run: () => latest.current[index]?.run() };
    });
    bindings.value = [...own, ...bindings.peek()];
    return () => {
      bindings.value = bindings.peek().filter((each) => !own.includes(each));
    };
  }, []);
}

const patienceMs = 1_000;
let first = { key: "", at: -Infinity };

document.addEventListener("keydown", (event) => {
  const isHeld = event.ctrlKey || event.metaKey;
  if (event.altKey || (!isHeld && (shortcuts.value === "off" || isTyping(event)))) return;
  const key = isHeld ? `Ctrl-${event.key.toUpperCase()}` : event.key;
  const before = event.timeStamp - first.at < patienceMs ? `${first.key} ${key}` : "";
  const found = bindings.peek().find(({ keys }) => keys === before) ?? bindings.peek().find(({ keys }) => keys === key);
  first = { key, at: event.timeStamp };
  if (found === undefined) return;
  event.preventDefault();
  found.run();
});

/** Keys belong to the field that has the focus, and to an open dialog. */
function isTyping({ target }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (document.querySelector("dialog[open]") !== null) return true;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox" && target.type !== "radio";
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

type AddressOf = (row: number) => string | null;

/** The row that keys act on, of a list with a filter; another list begins before its first row. */
export function useCurrentRow(list: string, rows: number, addressOf: AddressOf): Signal<number> {
  const { route } = useLocation();
  const current = useSignal(-1);
  useEffect(() => void (current.value = -1), [list]);
  const step = (by: number): void => void (current.value = Math.max(0, Math.min(rows - 1, current.value + by)));
  const open = (): void => {
    const { activeElement } = document;
    const address = addressOf(current.value);
    // Enter on a link or button is that one's own.
    if (activeElement instanceof HTMLAnchorElement || activeElement instanceof HTMLButtonElement) activeElement.click();
    else if (address !== null) route(address);
  };
  useKeys([
    { keys: "/", does: words.filter.write, run: () => document.getElementById(filterFieldId)?.focus() },
    { keys: "j", does: words.filter.nextRow, run: () => step(1) },
    { keys: "k", does: words.filter.rowBefore, run: () => step(-1) },
    { keys: "Enter", does: words.filter.openRow, run: open },
  ]);
  return current;
}

/** The id that `/` looks for. */
export const filterFieldId = "filter";

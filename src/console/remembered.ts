import { effect, signal, type Signal } from "@preact/signals";
import { readStored, store } from "./stored.ts";

/**
 * A choice that this browser keeps. Anything else that was stored under its name (by hand, by an older version) counts
 * as no choice; a browser that stores nothing still has the choice until the page is left.
 */
export function remembered<T extends string>(name: string, among: readonly T[], usual: T): Signal<T> {
  const held = readStored(name);
  const chosen = signal<T>(among.find((each) => each === held) ?? usual);
  effect(() => store(name, chosen.value));
  return chosen;
}

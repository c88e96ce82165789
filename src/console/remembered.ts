import { effect, signal, type Signal } from "@preact/signals";

/**
 * A choice that this browser keeps. Anything else that was stored under its name (by hand, by an older version) counts
 * as no choice; a browser that stores nothing still has the choice until the page is left.
 */
export function storedSignal<T extends string>(name: string, among: readonly T[], usual: T): Signal<T> {
  const held = readStored(name);
  const chosen = signal<T>(among.find((each) => each === held) ?? usual);
  effect(() => store(name, chosen.value));
  return chosen;
}

/** What this browser keeps under a name of the page; null where it keeps nothing. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(`belfry.${name}`);
  } catch {
    return null;
  }
}

/** Storage may be switched off: the choice holds for this page only then. */
export function store(name: string, value: string): void {
  try {
    localStorage.setItem(`belfry.${name}`, value);
  } catch {
    // Nothing to do.
  }
}

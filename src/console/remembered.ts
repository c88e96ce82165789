import { effect, signal, type Signal } from "@preact/signals";

/**
 * A choice that this browser keeps. Anything else that was stored under its name (by hand, by an older version) counts
 * as no choice; a browser that stores nothing still has the choice until the page is left.
 */
export function remembered<T extends string>(name: string, among: readonly T[], usual: T): Signal<T> {
  const stored = read(name);
  const chosen = signal<T>(among.find((each) => each === stored) ?? usual);
  effect(() => write(name, chosen.value));
  return chosen;
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(`belfry.${name}`);
  } catch {
    return null;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`belfry.${name}`, value);
  } catch {
    // Storage is switched off: the choice holds for this page only.
  }
}

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

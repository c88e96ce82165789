/**
 * Whether an error, or what caused it, says that this process has no file descriptor left. Such a process fails every job
 * that opens one, also those that did not use them up.
 */
export function saysNoFiles(error: unknown): boolean {
  const seen = new Set<unknown>();
  for (let next = error; typeof next === "object" && next !== null && !seen.has(next); next = causeOf(next)) {
    if ("code" in next && next.code === "EMFILE") return true;
    seen.add(next);
  }
  return false;
}

const causeOf = (error: object): unknown => ("cause" in error ? error.cause : null);

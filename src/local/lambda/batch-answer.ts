/**
 * How AWS reads a function's answer to a batch when partial answers are on. An empty answer means
 * that every message succeeded; a malformed one means that every message failed.
 * @returns the ids to leave in the queue.
 */
export function failedMessages(ids: readonly string[], answer: unknown): ReadonlySet<string> {
  const all = new Set(ids);
  if (answer === null || answer === undefined) return none;
  if (typeof answer !== "object" || Array.isArray(answer)) return all;
  const { batchItemFailures } = answer as Record<string, unknown>;
  if (batchItemFailures === null || batchItemFailures === undefined) return none;
  if (!Array.isArray(batchItemFailures)) return all;
  const failed = new Set<string>();
  for (const failure of batchItemFailures as unknown[]) {
    const id = identifierOf(failure);
    if (id === null || !all.has(id)) return all;
    failed.add(id);
  }
  return failed;
}

const none: ReadonlySet<string> = new Set();

function identifierOf(failure: unknown): string | null {
  if (typeof failure !== "object" || failure === null) return null;
  const { itemIdentifier } = failure as Record<string, unknown>;
  return typeof itemIdentifier === "string" && itemIdentifier !== "" ? itemIdentifier : null;
}

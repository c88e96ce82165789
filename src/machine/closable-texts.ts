const kindPrefix = "kind:";

/** The name of one kind among the lanes, where both can be closed: no lane has a colon. */
export const kindName = (kind: string): string => `${kindPrefix}${kind}`;

/** The kind that is meant; null for the name of a lane. */
export const kindOf = (name: string): string | null =>
  name.startsWith(kindPrefix) ? name.slice(kindPrefix.length) : null;

/** In a sentence. */
export const closableText = (name: string): string => (kindOf(name) === null ? `lane ${name}` : `kind ${kindOf(name)}`);

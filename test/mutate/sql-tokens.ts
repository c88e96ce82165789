export interface Token {
  readonly kind: "word" | "number" | "string" | "parameter" | "operator" | "open" | "close" | "comma" | "hole";
  /** Lower case for words. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Of parentheses around it; a parenthesis has the depth of what surrounds it. */
  readonly depth: number;
}

const patterns: readonly (readonly [Token["kind"] | null, RegExp])[] = [
  [null, /\s+|--[^\n]*|\/\*[\s\S]*?\*\//y],
  ["string", /'(?:[^']|'')*'|"(?:[^"])*"/y],
  ["parameter", /\$\d+/y],
  ["number", /\d+(?:\.\d+)?/y],
  ["word", /[a-z_][a-z_0-9]*(?:\.[a-z_*][a-z_0-9]*)*/iy],
  ["open", /[([]/y],
  ["close", /[)\]]/y],
  ["comma", /,/y],
  ["operator", /::[a-z_.][a-z_.0-9]*(?:\[\])?|<<|>>|<=|>=|<>|!=|\|\||->>|->|#>>|@>|<@|=>|:=|[^\s\w]/iy],
];

/** The tokens of a text of SQL from `start` to `end` of a source file; `${...}` is one token, a hole. */
export function tokens(source: string, start: number, end: number): Token[] {
  const found: Token[] = [];
  let depth = 0;
  for (let at = start; at < end;) {
    if (source.startsWith("${", at)) {
      const close = endOfHole(source, at + 2);
      found.push({ kind: "hole", text: "", start: at, end: close, depth });
      at = close;
      continue;
    }
    const { kind, to } = next(source, at);
    if (kind === "close") depth -= 1;
    if (kind !== null) {
      const text = source.slice(at, to);
      found.push({ kind, text: kind === "word" ? text.toLowerCase() : text, start: at, end: to, depth });
    }
    if (kind === "open") depth += 1;
    at = to;
  }
  return found;
}

function next(source: string, at: number): { kind: Token["kind"] | null; to: number } {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    if (pattern.test(source)) return { kind, to: pattern.lastIndex };
  }
  return { kind: "operator", to: at + 1 };
}

function endOfHole(source: string, from: number): number {
  let open = 1;
  let at = from;
  for (; open > 0 && at < source.length; at += 1) {
    if (source[at] === "{") open += 1;
    if (source[at] === "}") open -= 1;
  }
  return at;
}

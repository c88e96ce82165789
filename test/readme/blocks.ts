/** One fenced block of a Markdown page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Of its first line of content. */
  readonly line: number;
}

const fence = /^```(\S*)\n([\s\S]*?)^```$/gm;

export function blocksOf(markdown: string): readonly Block[] {
  return [...markdown.matchAll(fence)].map((match) => ({
    language: match[1] ?? "",
    text: match[2] ?? "",
    line: markdown.slice(0, match.index).split("\n").length + 1,
  }));
}

/** The commands of a shell block, a line each; a comment behind one belongs to people. */
export const commandsOf = (block: Block): readonly string[] =>
  block.text
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("#"));

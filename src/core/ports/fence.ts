/** The token a pass installed. Every fenced call checks it in its own transaction and throws `FenceLost`. */
export interface Fence {
  readonly name: string;
  readonly token: number;
}

/** Raised by a fenced call after another holder installed a newer token. Stop the pass; it is not an error. */
export class FenceLost extends Error {
  override readonly name = "FenceLost";
}

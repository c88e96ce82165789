/** One thing that was looked at. `fix` is set when it is not as it should be. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly fix?: string;
}

/** A part did not begin to serve in its time: this machine is too busy, or the part hangs. */
export class NotReady extends Error {
  override readonly name = "NotReady";
}

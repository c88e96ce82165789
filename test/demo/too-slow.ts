/** What was asked of the system was not answered in a time in which a machine that is not busy answers it many times over. */
export class TooSlow extends Error {
  override readonly name = "TooSlow";
}

import { CliError, exitCodes, Finished } from "./exit.ts";
import type { Output } from "./output.ts";

/**
 * Each id by itself: one that cannot be steered does not stop the others. Exits with 6 when some were steered and some were
 * not, and with the first error's own code when none was.
 */
export async function each<T>(
  ids: readonly string[],
  out: Output,
  work: (id: string) => Promise<T>,
  shown: (done: readonly T[]) => { readonly value: object; readonly text: () => string },
): Promise<void> {
  const done: T[] = [];
  const errors: { readonly id: string; readonly error: CliError }[] = [];
  for (const id of ids) {
    try {
      done.push(await work(id));
    } catch (error) {
      if (!(error instanceof CliError) || error.code === "not-running") throw error;
      errors.push({ id, error });
    }
  }
  const failed = errors.map(({ id, error: { code, message } }) => ({ id, code, message }));
  const { value, text } = shown(done);
  // For people, a list of nothing before the reason is only in the way.
  out.result({ ...value, errors: failed }, done.length === 0 ? null : text);
  for (const { message } of failed) out.note(`error: ${message}`);
  if (errors[0] !== undefined) throw new Finished(done.length > 0 ? exitCodes.partial : errors[0].error.exitCode);
}

import { setTimeout as wait } from "node:timers/promises";
import type { BulkPreviewReply, BulkReply } from "../api/shape/bulk.ts";
import type { ApiClient } from "./client.ts";
import { CliError, exitCodes, Finished, wrongUsage } from "./exit.ts";
import type { Output } from "./output.ts";

export interface BulkOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly wait?: boolean;
}

const lookMs = 300;

/**
 * Counts, and changes only with `--yes`; then follows to the end. Exits with 6 when some that matched had moved before
 * their turn, or the change was stopped.
 */
export async function redriveMatching(
  client: ApiClient,
  out: Output,
  body: object,
  options: BulkOptions,
): Promise<void> {
  const dry = (await client.call("redriveDeadLetters", {}, { ...body, dryRun: true })) as BulkPreviewReply;
  const first = dry.steps.length === 0 ? "" : `, of each group ${dry.steps.join(", then ")}, then the rest`;
  const count = `${dry.matched.count}${dry.matched.isMore ? " or more" : ""} jobs match${first}`;
  if (options.dryRun === true) return out.result(dry, () => `${count}; nothing was changed`);
  if (options.yes !== true) {
    throw wrongUsage("not-confirmed", `${count}: add --yes to redrive them, or --dry-run to only count`);
  }
  const begun = (await client.call("redriveDeadLetters", {}, body)) as BulkReply;
  const bulk = options.wait === false ? begun : await followBulk(client, out, begun);
  const { changed, takenAlong, refused, state, stopped, steps, lastDueAt } = bulk;
  const along = takenAlong === 0 ? "" : ` and took ${takenAlong} of their runs along`;
  const why = stopped === null ? "" : `: ${stopped}; look at ${shown(steps?.jobs ?? [])}, repair, and redrive again`;
  const last = lastDueAt === null ? "" : `; the last is due at ${lastDueAt}`;
  out.result(bulk, () => {
    return `${state.toLowerCase()}: ${changed} jobs changed${along}, ${refused} had moved before their turn${last}${why}`;
  });
  if (refused > 0 || state === "STOPPED") throw new Finished(exitCodes.partial);
}

/** The bulk action at its end; notes how far it is and how it is stopped. */
export async function followBulk(client: ApiClient, out: Output, begun: BulkReply): Promise<BulkReply> {
  let bulk = begun;
  let reported = "";
  while (bulk.state === "RUNNING") {
    const progress = `${bulk.changed} of ${bulk.matched.count} done${waitsForStep(bulk)}; to stop it: npx belfry dead-letters stop ${bulk.id}`;
    if (progress !== reported) out.note(progress);
    reported = progress;
    await wait(lookMs);
    bulk = await client.call("getBulk", { id: bulk.id });
  }
  return bulk;
}

const waitsForStep = ({ steps }: BulkReply): string =>
  steps?.state === "out"
    ? `, the next step waits for job${steps.jobs.length === 1 ? "" : "s"} ${shown(steps.jobs)}`
    : "";

const shown = (jobs: readonly string[]): string => `${jobs.slice(0, 3).join(", ")}${jobs.length > 3 ? ", ..." : ""}`;

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

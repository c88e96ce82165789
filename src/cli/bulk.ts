import { setTimeout as wait } from "node:timers/promises";
import type { BulkPreviewReply, BulkReply } from "../api/shape/bulk.ts";
import type { ApiClient } from "./client.ts";
import { CliError, exitCodes, Finished } from "./exit.ts";
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
export async function changeMatching(
  client: ApiClient,
  out: Output,
  { path, body, verb }: { path: string; body: object; verb: string },
  options: BulkOptions,
): Promise<void> {
  const dry = await client.post<BulkPreviewReply>(path, { ...body, dryRun: true });
  const count = `${dry.matched.count}${dry.matched.isMore ? " or more" : ""} jobs match`;
  if (options.dryRun === true)
    return out.result({ dryRun: true, matched: dry.matched }, () => `${count}; nothing was changed`);
  if (options.yes !== true) {
    throw new CliError(
      exitCodes.usage,
      "not-confirmed",
      `${count}: add --yes to ${verb} them, or --dry-run to only count`,
    );
  }
  const begun = await client.post<BulkReply>(path, body);
  const bulk = options.wait === false ? begun : await followed(client, out, begun);
  const { changed, takenAlong, refused, state } = bulk;
  const why =
    bulk.canary?.state === "failed" ? `: a canary did not succeed, see jobs ${bulk.canary.jobs.join(", ")}` : "";
  const along = takenAlong === 0 ? "" : ` and took ${takenAlong} of their runs along`;
  out.result(bulk, () => {
    return `${state.toLowerCase()}: ${changed} jobs changed${along}, ${refused} had moved before their turn${why}`;
  });
  if (refused > 0 || state === "STOPPED") throw new Finished(exitCodes.partial);
}

/** The bulk action at its end; notes how far it is and how it is stopped. */
export async function followed(client: Pick<ApiClient, "get">, out: Output, begun: BulkReply): Promise<BulkReply> {
  let bulk = begun;
  let reported = "";
  while (bulk.state === "RUNNING") {
    const progress = `${bulk.changed} of ${bulk.matched.count} done${waitsForCanary(bulk)}; to stop it: npx belfry dead-letters stop ${bulk.id}`;
    if (progress !== reported) out.note(progress);
    reported = progress;
    await wait(lookMs);
    bulk = await client.get<BulkReply>(`/bulk/${bulk.id}`);
  }
  return bulk;
}

const waitsForCanary = ({ canary }: BulkReply): string =>
  canary?.state === "out"
    ? `, the rest waits for job${canary.jobs.length === 1 ? "" : "s"} ${canary.jobs.join(", ")}`
    : "";

import { numberText, type CountReply } from "../language/number.ts";
import type { BulkReply } from "../../api/shape/bulk.ts";
import { signal } from "@preact/signals";
import { addresses } from "../address.ts";
import { ApiError, ask } from "../http.ts";
import type { JobQuery } from "../jobs/filter.ts";
import { confirm, say, sayFailed } from "../parts/index.ts";
import type { JobState } from "../jobs/state.ts";
import { words } from "../language/words.ts";

export type BulkVerb = "retry" | "cancel";

/** Everything that matches a filter, or the jobs that were marked. */
export type BulkTarget = { readonly filter: JobQuery; readonly text: string } | { readonly ids: readonly string[] };

interface Ongoing {
  readonly action: BulkVerb;
  readonly done: number;
  readonly total: CountReply;
  readonly stop: () => void;
}

export interface BulkOutcome {
  readonly changed: number;
  readonly refused: number;
  readonly isStopped: boolean;
}

/** The change of many jobs that is under way, or null. */
export const ongoing = signal<Ongoing | null>(null);

const lookMs = 500;
const atOnce = 4;

/** Counts, asks, starts, and follows to the end. `onDone` is called when jobs were changed. */
export async function confirmAndChange(
  action: BulkVerb,
  target: BulkTarget,
  onDone: () => void = () => {},
): Promise<void> {
  try {
    const total =
      "ids" in target
        ? { count: target.ids.length, isMore: false }
        : (await ask("POST /bulk", {}, { body: { ...bodyOf(action, target.filter), dryRun: true } })).matched;
    if (total.count === 0) {
      say(words.bulk.none(action));
      return;
    }
    const facts = "ids" in target ? [] : await factsOf(action, target, total);
    const question = {
      text: words.bulk.consequences[action],
      facts,
      action: words.bulk.action(action, total),
      danger: action === "cancel",
    };
    if (!(await confirm(question))) return;
    // The API does it page by page, also when this page is closed.
    const outcome =
      "ids" in target
        ? await oneByOne(action, target.ids)
        : await untilEnded(action, (await ask("POST /bulk", {}, { body: bodyOf(action, target.filter) })) as BulkReply);
    sayOutcome(action, outcome);
    onDone();
  } catch (error) {
    sayFailed(words.bulk.notChanged(action), error);
  } finally {
    ongoing.value = null;
  }
}

const sampleRows = 500;
const kindsShown = 6;
const changeable: Readonly<Record<BulkVerb, readonly JobState[]>> = {
  retry: ["FAILED", "CANCELED", "SKIPPED"],
  cancel: ["PENDING", "QUEUED", "RUNNING", "RETRY_WAIT"],
};

/** What the answer concerns: the filter as it was written, and the kinds and states of what it matches. */
async function factsOf(action: BulkVerb, { filter, text }: { filter: JobQuery; text: string }, total: CountReply) {
  const asked = filter["state"]?.split(",");
  const state = changeable[action].filter((each) => asked === undefined || asked.includes(each)).join(",");
  const { jobs } = await ask("GET /jobs", { ...filter, state, limit: sampleRows });
  const isWhole = jobs.length === total.count && !total.isMore;
  const among = isWhole ? "" : words.bulk.ofNewest(jobs.length);
  return [
    [words.bulk.filter, text === "" ? words.bulk.everyJob : text],
    [words.bulk.kinds(among), tally(jobs.map(({ kind }) => kind))],
    [words.bulk.states(among), tally(jobs.map((job) => words.states[job.state]))],
    [words.places.jobs, numberText(total)],
  ] as const;
}

/** `export 40, mail 2`, the most frequent first. */
function tally(values: readonly string[]): string {
  const counts = [...Map.groupBy(values, (value) => value)].toSorted(([, a], [, b]) => b.length - a.length);
  const shown = counts.slice(0, kindsShown).map(([value, all]) => `${value} ${numberText(all.length)}`);
  return [...shown, ...(counts.length > kindsShown ? [words.bulk.more(counts.length - kindsShown)] : [])].join(", ");
}

/** A body has the members of the payload in an object of their own. */
function bodyOf(action: BulkVerb, filter: JobQuery) {
  const fields = Object.entries(filter);
  const members = fields.filter(([name]) => name.startsWith("payload."));
  const payload = Object.fromEntries(members.map(([name, value]) => [name.slice("payload.".length), value]));
  const others = Object.fromEntries(fields.filter(([name]) => !name.startsWith("payload.")));
  return { action, filter: members.length === 0 ? others : { ...others, payload } };
}

/** To its end; on the way it can be stopped. */
export async function untilEnded(action: BulkVerb, started: BulkReply): Promise<BulkOutcome> {
  let bulk = started;
  const stop = (): void =>
    void ask("POST /bulk/:id/stop", { id: bulk.id }).catch((error: unknown) => sayFailed(words.bulk.notStopped, error));
  while (bulk.state === "RUNNING") {
    ongoing.value = { action, done: bulk.changed + bulk.refused, total: bulk.matched, stop };
    await new Promise((resolve) => setTimeout(resolve, lookMs));
    bulk = await ask("GET /bulk/:id", { id: bulk.id });
  }
  const { steps } = bulk;
  if (steps?.state === "failed")
    sayFailed(words.redrive.stopped(bulk.changed, steps), steps.jobs.slice(0, 3).join(", "));
  return { changed: bulk.changed, refused: bulk.refused, isStopped: bulk.state === "STOPPED" };
}

/** A few at a time. A job that another process moved is counted and not changed. */
async function oneByOne(action: BulkVerb, ids: readonly string[]): Promise<BulkOutcome> {
  const total = { count: ids.length, isMore: false };
  let [changed, refused] = [0, 0];
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  const change = async (id: string): Promise<void> => {
    try {
      await ask(`POST /jobs/:id/${action}`, { id });
      changed += 1;
    } catch (error) {
      if (!(error instanceof ApiError && (error.status === 409 || error.status === 404))) throw error;
      refused += 1;
    }
    ongoing.value = { action, done: changed + refused, total, stop };
  };
  for (let from = 0; from < ids.length && !stopping.signal.aborted; from += atOnce) {
    await Promise.all(ids.slice(from, from + atOnce).map(change));
  }
  return { changed, refused, isStopped: stopping.signal.aborted };
}

export function sayOutcome(action: BulkVerb, { changed, refused, isStopped }: BulkOutcome): void {
  say(words.bulk.changed(action, changed, refused, isStopped), {
    text: words.shared.showJobs,
    href: addresses.jobsWith(action === "cancel" ? "state:canceled" : "state:pending,queued,running"),
  });
}

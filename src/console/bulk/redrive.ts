import type { BulkReply } from "../../api/shape/bulk.ts";
import type { FailureGroup } from "../../insight/failure-groups.ts";
import { ask } from "../http.ts";
import { currentTime } from "../clock.ts";
import { reading, timeMode } from "../time.ts";
import { numberText } from "../language/number.ts";
import { words } from "../language/words.ts";
import { answerTo, sayFailed } from "../parts/index.ts";
import { untilEnded, ongoing, sayOutcome } from "./bulk.ts";

const causesShown = 4;
const followMs = 20_000;
const followLookMs = 1_000;

/** Retries dead letters of some groups: in steps that stop them when they fail again, unless all at once is wanted. */
export async function confirmAndRedrive(
  groups: readonly FailureGroup[],
  ended: Readonly<Record<string, string>>,
  onDone: () => void,
): Promise<void> {
  const kinds = [...new Set(groups.map(({ kind }) => kind))];
  const fingerprint = groups.map((group) => group.fingerprint);
  const filter = { fingerprint, ...ended, ...(kinds.length === 1 ? { kind: kinds[0] } : {}) };
  try {
    const { matched } = await ask("POST /dead-letters/redrive", {}, { body: { filter, dryRun: true } });
    const written = await answerTo({
      text: words.bulk.consequences.retry,
      facts: factsOf(groups, kinds, ended),
      fields: [
        { id: "pace", name: words.redrive.pace, hint: words.redrive.paceHint },
        { id: "atOnce", name: words.redrive.atOnce, hint: words.redrive.atOnceHint, isCheck: true },
      ],
      action: words.bulk.action("retry", matched),
    });
    if (written === null) return;
    const { pace = "", atOnce = "" } = written;
    const body = { filter, ...(atOnce === "" ? {} : { steps: "all" }), ...(pace === "" ? {} : { pace }) };
    const begun = (await ask("POST /dead-letters/redrive", {}, { body })) as BulkReply;
    const outcome = await untilEnded("retry", begun);
    sayOutcome("retry", outcome);
    onDone();
    const same = { fingerprint: fingerprint.join(), kind: filter.kind ?? null };
    void tellWhatCame({ ...same, endedFrom: begun.createdAt }, outcome.changed).catch((error: unknown) =>
      sayFailed(words.redrive.unknown, error),
    );
  } catch (error) {
    sayFailed(words.bulk.notChanged("retry"), error);
  } finally {
    ongoing.value = null;
  }
}

/** Those that failed again the same way, for as long as a person waits for it. */
async function tellWhatCame(again: Readonly<Record<string, string | null>>, retried: number): Promise<void> {
  const until = Date.now() + followMs;
  let failed = 0;
  while (failed < retried && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, followLookMs));
    failed = (await ask("GET /jobs/counts", again)).FAILED.count;
  }
  if (failed > 0) sayFailed(words.redrive.cameTo(retried, failed), "");
}

function factsOf(
  groups: readonly FailureGroup[],
  kinds: readonly string[],
  { endedFrom, endedTo }: Readonly<Record<string, string>>,
) {
  const timeText = (at?: string): string =>
    at === undefined ? "" : reading(Date.parse(at), currentTime(), { mode: timeMode.value }).text;
  const range = `${timeText(endedFrom)} – ${timeText(endedTo)}`;
  const causes = groups.slice(0, causesShown).map(({ errorCode, errorMessage, jobs: of }) => {
    return `${errorCode ?? words.shared.noCode} (${numberText(of)}): ${(errorMessage ?? "").slice(0, 80)}`;
  });
  const more = groups.length > causesShown ? [words.bulk.more(groups.length - causesShown)] : [];
  return [
    [words.bulk.kinds(""), kinds.join(", ")],
    [words.redrive.causes, [...causes, ...more].join(" · ")],
    [words.bulk.states(""), words.states.FAILED],
    ...(endedFrom === undefined && endedTo === undefined ? [] : [[words.labels.ended, range] as const]),
  ] as const;
}

import { countJobs, countRedrive, type FailureGroupReply, type Redrive, startRedrive } from "../client.ts";
import { numberText } from "../language/number.ts";
import { words } from "../language/words.ts";
import { answerTo, sayFailed } from "../parts/index.ts";
import { untilEnded, ongoing, sayOutcome } from "./bulk.ts";

const causesShown = 4;
const followMs = 20_000;
const followLookMs = 1_000;

/** Retries dead letters of some groups: all at once or at a pace, and one of each first if that is wanted. */
export async function confirmAndRedrive(groups: readonly FailureGroupReply[], onDone: () => void): Promise<void> {
  const kinds = [...new Set(groups.map(({ kind }) => kind))];
  const all: Redrive = {
    fingerprints: groups.map(({ fingerprint }) => fingerprint),
    kind: kinds.length === 1 ? (kinds[0] ?? null) : null,
    pace: "",
    canary: false,
  };
  try {
    const matched = await countRedrive(all);
    const written = await answerTo({
      title: words.redrive.question(matched),
      text: words.bulk.consequences.retry,
      facts: factsOf(groups, kinds, numberText(matched)),
      fields: [
        { id: "pace", name: words.redrive.pace, hint: words.redrive.paceHint },
        { id: "canary", name: words.redrive.canary, hint: words.redrive.canaryHint, isCheck: true },
      ],
      action: words.redrive.action(matched),
    });
    if (written === null) return;
    const { pace = "", canary = "" } = written;
    const begun = await startRedrive({ ...all, pace, canary: canary !== "" });
    const outcome = await untilEnded("retry", begun);
    sayOutcome("retry", outcome);
    onDone();
    void tellWhatCame(all, begun.createdAt, outcome.changed).catch((error: unknown) =>
      sayFailed(words.redrive.unknown, error),
    );
  } catch (error) {
    sayFailed(words.bulk.notChanged("retry"), error);
  } finally {
    ongoing.value = null;
  }
}

/** Those that failed again the same way, for as long as a person waits for it. */
async function tellWhatCame({ fingerprints, kind }: Redrive, since: string, retried: number): Promise<void> {
  const again = { fingerprint: fingerprints.join(), endedFrom: since, ...(kind === null ? {} : { kind }) };
  const until = Date.now() + followMs;
  let failed = 0;
  while (failed < retried && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, followLookMs));
    failed = (await countJobs(again)).FAILED.count;
  }
  if (failed > 0) sayFailed(words.redrive.cameTo(retried, failed), "");
}

function factsOf(groups: readonly FailureGroupReply[], kinds: readonly string[], jobs: string) {
  const causes = groups.slice(0, causesShown).map(({ errorCode, errorMessage, jobs: of }) => {
    return `${errorCode ?? words.shared.noCode} (${numberText(of)}): ${(errorMessage ?? "").slice(0, 80)}`;
  });
  const more = groups.length > causesShown ? [words.bulk.more(groups.length - causesShown)] : [];
  return [
    [words.bulk.kinds(""), kinds.join(", ")],
    [words.redrive.causes, [...causes, ...more].join(" · ")],
    [words.bulk.states(""), words.states.FAILED],
    [words.labels.jobs, jobs],
  ] as const;
}

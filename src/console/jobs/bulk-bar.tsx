import { Button } from "../parts/index.ts";
import { type BulkVerb, confirmAndChange } from "../bulk/bulk.ts";
import { numberText, type CountReply } from "../language/number.ts";
import type { JobQuery } from "./filter.ts";
import { useKeys } from "../keys.ts";
import type { Selection } from "./selection.ts";
import { words } from "../language/words.ts";

interface BulkBarProps {
  /** The filter as it was written. */
  readonly text: string;
  readonly selection: Selection;
  readonly filter: JobQuery;
  /** How many match; null until they are counted. */
  readonly matching: CountReply | null;
  readonly onDone: () => void;
}

/** What may be done with the marked jobs, or with all that match: counted and confirmed before it starts. */
export function BulkBar({ text, selection, filter, matching, onDone }: BulkBarProps) {
  const { chosen } = selection;
  const marked = chosen === "all" ? null : chosen.size;
  const howMany = matching === null ? "" : numberText(matching);
  const change = (action: BulkVerb): void => {
    if (marked === 0) return;
    const target = chosen === "all" ? { filter, text } : { ids: [...chosen] };
    void confirmAndChange(action, target, () => {
      selection.none();
      onDone();
    });
  };
  useKeys([
    { keys: "a", does: words.jobs.markAll, run: selection.all },
    { keys: "u", does: words.jobs.unmark, run: selection.none },
    { keys: "r", does: words.shared.retry, run: () => change("retry") },
    { keys: "c", does: words.shared.cancel, run: () => change("cancel") },
  ]);
  return (
    <div class="line bulk" role="toolbar" aria-label={words.jobs.marked}>
      <span class={marked === 0 ? "dim" : ""}>
        {marked === null
          ? words.jobs.allMarked(howMany)
          : marked === 0
            ? words.jobs.noneMarked
            : words.jobs.someMarked(marked)}
      </span>
      {marked === null ? null : <Button text={words.jobs.markMatching(howMany)} look="small" onClick={selection.all} />}
      {marked === 0 ? null : (
        <>
          <Button text={words.jobs.unmark} look="small" onClick={selection.none} />
          <Button text={words.shared.retry} look="small" onClick={() => change("retry")} />
          <Button text={words.shared.cancel} look="small danger" onClick={() => change("cancel")} />
        </>
      )}
    </div>
  );
}

import { confirmAndChange } from "../bulk/bulk.ts";
import type { BulkVerb, JobQuery } from "../client.ts";
import { useKeys } from "../keys.ts";
import type { ShownCount } from "../shape.ts";
import { counted } from "../words.ts";
import type { Selection } from "./selection.ts";

interface BulkBarProps {
  /** The filter as it was written. */
  readonly text: string;
  readonly selection: Selection;
  readonly filter: JobQuery;
  /** How many match; null until they are counted. */
  readonly matching: ShownCount | null;
  readonly onDone: () => void;
}

/** What may be done with the marked jobs, or with all that match: counted and confirmed before it starts. */
export function BulkBar({ text, selection, filter, matching, onDone }: BulkBarProps) {
  const { chosen } = selection;
  const marked = chosen === "all" ? null : chosen.size;
  const howMany = matching === null ? "" : `${counted(matching)} `;
  const change = (action: BulkVerb): void => {
    if (marked === 0) return;
    const target = chosen === "all" ? { filter, text } : { ids: [...chosen] };
    void confirmAndChange(action, target, () => {
      selection.none();
      onDone();
    });
  };
  useKeys([
    { keys: "a", does: "Mark all that match", run: selection.all },
    { keys: "u", does: "Unmark all", run: selection.none },
    { keys: "r", does: "Retry the marked jobs", run: () => change("retry") },
    { keys: "c", does: "Cancel the marked jobs", run: () => change("cancel") },
  ]);
  return (
    <div class="bulk" role="toolbar" aria-label="Marked jobs">
      <span class={marked === 0 ? "dim" : ""}>
        {marked === null
          ? `All ${howMany}that match are marked`
          : marked === 0
            ? "None marked"
            : `${counted(marked)} marked`}
      </span>
      {marked === null ? null : (
        <button type="button" class="button small" onClick={selection.all}>
          {`Mark all ${howMany}matching`}
        </button>
      )}
      {marked === 0 ? null : (
        <>
          <button type="button" class="button small" onClick={selection.none}>
            Unmark
          </button>
          <button type="button" class="button small" onClick={() => change("retry")}>
            Retry
          </button>
          <button type="button" class="button small danger" onClick={() => change("cancel")}>
            Cancel
          </button>
        </>
      )}
    </div>
  );
}

import { counted } from "../words.ts";
import { ongoing } from "./bulk.ts";

/** How far a change of many jobs is, on every screen, with a button that stops it. */
export function BulkProgress() {
  if (ongoing.value === null) return null;
  const { action, done, total, stop } = ongoing.value;
  const what = action === "retry" ? "Retrying" : "Canceling";
  return (
    <div class="bulk-progress" role="status">
      <span>{`${what} ${counted(done)} of ${counted(total)}`}</span>
      <progress max={Math.max(1, total.count)} value={done} aria-label={what} />
      <button type="button" class="button small" onClick={stop}>
        Stop
      </button>
    </div>
  );
}

import { counted } from "../words.ts";
import { ongoing, stopOngoing } from "./bulk.ts";

/** How far a change of many jobs is, on every screen, with a button that stops it. */
export function BulkProgress() {
  if (ongoing.value === null) return null;
  const { action, bulk } = ongoing.value;
  const what = action === "retry" ? "Retrying" : "Canceling";
  return (
    <div class="bulk-progress" role="status">
      <span>{`${what} ${counted(bulk.done)} of ${counted(bulk.total)}`}</span>
      <progress max={Math.max(1, bulk.total)} value={bulk.done} aria-label={what} />
      <button type="button" class="button small" onClick={() => void stopOngoing()}>
        Stop
      </button>
    </div>
  );
}

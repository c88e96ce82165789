import { ongoing } from "./bulk.ts";
import { words } from "../language/words.ts";

/** How far a change of many jobs is, on every screen, with a button that stops it. */
export function BulkProgress() {
  if (ongoing.value === null) return null;
  const { action, done, total, stop } = ongoing.value;
  const text = words.bulk.ongoing(action, done, total);
  return (
    <div class="bulk-progress" role="status">
      <span>{text}</span>
      <progress max={Math.max(1, total.count)} value={done} aria-label={text} />
      <button type="button" class="button small" onClick={stop}>
        {words.bulk.stop}
      </button>
    </div>
  );
}

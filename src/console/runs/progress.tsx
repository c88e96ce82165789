import type { ShownRun } from "../shape.ts";
import { counted } from "../words.ts";

/** How the jobs of a run stand, as parts of one bar; the words say the same. */
export function RunProgress({ progress }: { readonly progress: ShownRun["progress"] }) {
  const { total, ok, failed, skipped, running } = progress;
  const parts = [
    { name: "ok", jobs: ok },
    { name: "failed", jobs: failed },
    { name: "skipped", jobs: skipped },
    { name: "running", jobs: running },
  ].filter(({ jobs }) => jobs > 0);
  const words = `${counted(progress.done)} of ${counted(total)} done`;
  return (
    <span class="run-progress">
      <span
        class="run-bar"
        role="img"
        aria-label={[words, ...parts.map(({ name, jobs }) => `${jobs} ${name}`)].join(", ")}
      >
        {parts.map(({ name, jobs }) => (
          <i key={name} class={`part-${name}`} style={{ width: `${(jobs / Math.max(1, total)) * 100}%` }} />
        ))}
      </span>
      <span class="number dim">{`${counted(progress.done)}/${counted(total)}`}</span>
      {failed > 0 ? <span class="run-failed">{`${counted(failed)} failed`}</span> : null}
      {skipped > 0 ? <span class="dim">{`${counted(skipped)} skipped`}</span> : null}
    </span>
  );
}

import type { RunReply } from "../../api/shape/run.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

/** How the jobs of a run stand, as parts of one bar; the words say the same. */
export function RunProgress({ progress }: { readonly progress: RunReply["progress"] }) {
  const { total, failed, skipped } = progress;
  const among = ["ok", "failed", "skipped", "running"] as const;
  const parts = among.map((name) => ({ name, jobs: progress[name] })).filter(({ jobs }) => jobs > 0);
  return (
    <span class="run-progress">
      <span
        class="run-bar"
        role="img"
        aria-label={[
          words.runs.done(progress.done, total),
          ...parts.map(({ name, jobs }) => `${words.runs.parts[name]} ${jobs}`),
        ].join(", ")}
      >
        {parts.map(({ name, jobs }) => (
          <i key={name} class={`part-${name}`} style={{ width: `${(jobs / Math.max(1, total)) * 100}%` }} />
        ))}
      </span>
      <span class="number dim">{`${numberText(progress.done)}/${numberText(total)}`}</span>
      {failed > 0 ? <span class="run-failed">{words.runs.failed(failed)}</span> : null}
      {skipped > 0 ? <span class="dim">{words.runs.skipped(skipped)}</span> : null}
    </span>
  );
}

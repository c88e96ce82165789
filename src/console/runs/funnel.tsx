import { addresses } from "../address.ts";
import type { RunReply } from "../../api/shape/run.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

/** How far the jobs of a fan-out came: all that were written, and where each of them is now. Each leads to its jobs. */
export function Funnel({ run }: { readonly run: RunReply }) {
  const { total, running, done, ok, failed, skipped } = run.progress;
  const { states, tasks } = words;
  const step = (name: string, jobs: number, states: string, tone: string) => {
    const asked = states === "" ? "" : ` state:${states}`;
    return { name, jobs, href: addresses.jobsWith(`run:${run.id}${asked}`), tone };
  };
  const steps = [
    step(tasks.steps.written, total, "", "all"),
    step(words.lanes.columns.waiting, total - running - done, "pending,queued,retry_wait", "all"),
    step(states.RUNNING, running, "running", "running"),
    step(tasks.steps.succeeded, ok, "success", "ok"),
    step(states.FAILED, failed, "failed", "failed"),
    step(states.CANCELED, done - ok - failed - skipped, "canceled", "skipped"),
    step(states.SKIPPED, skipped, "skipped", "skipped"),
  ];
  return (
    <section class="card" aria-label={words.runs.views.funnel}>
      <ol class="funnel">
        {steps.map(({ name, jobs, href, tone }) => (
          <li key={name}>
            <a href={href}>
              <span class="funnel-name">{name}</span>
              <span class="funnel-track">
                <i class={`part-${tone}`} style={{ width: `${(jobs / Math.max(1, total)) * 100}%` }} />
              </span>
              <span class="number">{numberText(jobs)}</span>
              <span class="number dim">{`${Math.round((jobs / Math.max(1, total)) * 100)} %`}</span>
            </a>
          </li>
        ))}
      </ol>
    </section>
  );
}

import { addresses } from "../address.ts";
import type { RunReply } from "../../api/shape/run.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

/** How far the jobs of a fan-out came: each step is part of the one before it, and links to its jobs. */
export function Funnel({ run }: { readonly run: RunReply }) {
  const { total, ready, running, done, ok, failed, skipped } = run.progress;
  const link = (states: string): string => addresses.jobsWith(`run:${run.id} state:${states}`);
  const steps = [
    { name: words.tasks.steps.written, jobs: total, href: addresses.jobsWith(`run:${run.id}`), tone: "all" },
    {
      name: words.tasks.steps.ready,
      jobs: ready + running + done,
      href: addresses.jobsWith(`run:${run.id}`),
      tone: "all",
    },
    {
      name: words.tasks.steps.started,
      jobs: running + done - skipped,
      href: link("running,success,failed,retry_wait"),
      tone: "running",
    },
    { name: words.tasks.steps.succeeded, jobs: ok, href: link("success"), tone: "ok" },
    { name: words.tasks.steps.failed, jobs: failed, href: link("failed"), tone: "failed" },
    { name: words.tasks.steps.skipped, jobs: skipped, href: link("skipped"), tone: "skipped" },
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

import { useState } from "preact/hooks";
import { currentTime } from "../clock.ts";
import { useAnswer } from "../resource.ts";
import type { AttemptDetailReply, JobDetailReply } from "../../api/shape/job.ts";
import { durationText } from "../time.ts";
import { logsInsightsUrl } from "./logs-insights.ts";
import type { TimelineLine } from "./timeline.ts";
import { words } from "../language/words.ts";

interface AttemptFactsProps {
  readonly job: Pick<JobDetailReply, "id" | "trace">;
  readonly of: TimelineLine;
  readonly waited: number;
  readonly ran: number;
  /** Its failure is shown at once: that of the newest attempt. */
  readonly isNewest: boolean;
}

/** How its time was spent, on which worker, and its whole error. What was kept of it is asked for when it is opened. */
export function AttemptFacts({
  job,
  of: { attempt, outcome, error, worker },
  waited,
  ran,
  isNewest,
}: AttemptFactsProps) {
  const [isOpen, setOpen] = useState(isNewest && error !== null);
  const spent = [
    waited > 0 ? words.attempts.waited(durationText(waited)) : null,
    ran > 0 ? words.attempts.ran(durationText(ran)) : null,
    worker === null || worker === "" ? null : words.attempts.on(worker),
  ].filter((part) => part !== null);
  return (
    <details class="attempt-facts" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="dim">{spent.join(" · ")}</summary>
      {error?.message == null ? null : <pre class="error-text">{error.message}</pre>}
      {isOpen && outcome !== null ? <Kept key={outcome} {...{ job, attempt }} /> : null}
    </details>
  );
}

interface KeptProps extends Pick<AttemptFactsProps, "job"> {
  readonly attempt: number;
}

function Kept({ job, attempt }: KeptProps) {
  const kept = useAnswer("GET /jobs/:id/attempts/:attempt", { id: job.id, attempt }, { again: "never" });
  // An attempt whose worker was lost has nothing to show, which is no failure of the page.
  if (kept.data === null) return null;
  return (
    <>
      <Split of={kept.data} />
      {kept.data.failure === null ? null : <Failure failure={kept.data.failure} />}
      <LogLink job={job} of={kept.data} />
    </>
  );
}

function LogLink({
  job,
  of: { logGroup, startedAt, endedAt },
}: Pick<KeptProps, "job"> & { readonly of: AttemptDetailReply }) {
  if (logGroup === null || startedAt === null) return null;
  const from = Date.parse(startedAt);
  const to = endedAt === null ? currentTime() : Date.parse(endedAt);
  const href = logsInsightsUrl({ logGroup, job: job.id, trace: job.trace, from, to });
  return (
    <a class="link" href={href} target="_blank" rel="noreferrer">
      {words.attempts.logsInsights}
    </a>
  );
}

/** Where the time of an attempt went, where it is known. */
function Split({ of: { dueAt, sentAt, startedAt, endedAt } }: { readonly of: AttemptDetailReply }) {
  if (dueAt === null || sentAt === null || startedAt === null) return null;
  const started = Date.parse(startedAt);
  // A message may be sent ahead of the due time: until then it is no claiming.
  const claimable = Math.min(started, Math.max(Date.parse(sentAt), Date.parse(dueAt)));
  const parts: readonly (readonly [string, number | null])[] = [
    [words.attempts.phases.wait, Math.max(0, claimable - Date.parse(dueAt))],
    [words.attempts.claiming, started - claimable],
    [words.attempts.phases.run, endedAt === null ? null : Date.parse(endedAt) - started],
  ];
  const spent = parts.flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${durationText(ms)}`]));
  return <p class="dim">{spent.join(" · ")}</p>;
}

const Failure = ({ failure }: { readonly failure: NonNullable<AttemptDetailReply["failure"]> }) => (
  <>
    {failure.response === null ? null : (
      <Part
        title={words.attempts.response(failure.response.status)}
        text={failure.response.body ?? words.attempts.bodyless}
      />
    )}
    {failure.log.length === 0 ? null : (
      <section aria-label={words.attempts.log}>
        <h3>{words.attempts.logLines(failure.log.length)}</h3>
        <ol class="log-lines mono">
          {failure.log.map(({ atMs, level, text }, index) => (
            <li key={index} class={`log-${level}`}>
              <span class="dim">{`+${durationText(atMs)}`}</span>
              <span>{level}</span>
              <span>{text}</span>
            </li>
          ))}
        </ol>
      </section>
    )}
    {failure.stack === null ? null : <Part title={words.attempts.stack} text={failure.stack} />}
    {failure.causes.map((cause, index) => (
      <Part key={index} title={words.attempts.causedBy} text={cause} />
    ))}
  </>
);

const Part = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <section aria-label={title}>
    <h3>{title}</h3>
    <pre class="error-text" tabIndex={0}>
      {text}
    </pre>
  </section>
);

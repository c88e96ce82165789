import { scheduleCrumbs } from "../schedules/crumbs.tsx";
import { Audits, Card, Icon, JobBadge, JsonView, Link, Loaded, ScreenHead } from "../parts/index.ts";
import { useRoute } from "preact-iso";
import { addresses } from "../address.ts";
import { quote } from "../filter/terms.ts";
import { currentTime, now } from "../clock.ts";
import { ask } from "../http.ts";
import { Actions } from "../job/actions.tsx";
import { JobFacts } from "../job/facts.tsx";
import { Heartbeat } from "../job/heartbeat.tsx";
import { OtherFailures } from "../job/other-failures.tsx";
import { History } from "../job/history.tsx";
import { timelineOf } from "../job/timeline.ts";
import { Why } from "../job/why.tsx";
import { Waterfall } from "../job/waterfall.tsx";
import { useAnswer, useResource } from "../resource.ts";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { isJobOver } from "../jobs/state.ts";
import { words } from "../language/words.ts";
import { reasonText } from "../language/spoken.ts";

/** Everything about one job: what it is, what happened, what failed last, and why it does not run. */
export function JobScreen() {
  const id = useRoute().params["id"] ?? "";
  const job = useAnswer("GET /jobs/:id", { id, include: "explanation" });
  return <Loaded of={job}>{(found) => <Found job={found} onDone={job.reload} />}</Loaded>;
}

function Found({ job, onDone }: { readonly job: JobDetailReply; readonly onDone: () => void }) {
  const zone = useZone(job.schedule);
  const isRunning = job.state === "RUNNING";
  const timeline = timelineOf(job, isRunning ? now.value : currentTime());
  return (
    <>
      <ScreenHead title={job.kind} id={job.id} crumbs={crumbsOf(job, zone)}>
        <JobBadge job={job} />
        <span class="space" />
        <Actions job={job} onDone={onDone} />
      </ScreenHead>
      {isJobOver(job.state) || isRunning ? null : <Why job={job} zone={zone} onDone={onDone} />}
      {isRunning ? <Heartbeat job={job} /> : null}
      <LatestError job={job} />
      <div class="columns">
        <div>
          <Waterfall job={job} timeline={timeline} />
          <History job={job} zone={zone} />
          <Audits target={targetsOf(job)} />
        </div>
        <div>
          <JobFacts job={job} zone={zone} />
          {job.state === "FAILED" ? <OtherFailures job={job} /> : null}
          <Data title={words.labels.payload} value={job.payload} />
          {job.state === "SUCCESS" ? <Data title={words.job.result} value={job.result} /> : null}
        </div>
      </div>
    </>
  );
}

/** From its run or its schedule where it has one. */
function crumbsOf({ run, task, schedule, scheduledFor, kind }: JobDetailReply, zone: string | undefined) {
  if (run !== null)
    return [<a href={addresses.runs}>{words.places.runs}</a>, <a href={addresses.run(run)}>{`#${run}`}</a>, task];
  if (schedule !== null) return scheduleCrumbs(schedule, scheduledFor, zone);
  return [
    <a href={addresses.jobs}>{words.places.jobs}</a>,
    <a href={addresses.jobsWith(`kind:${quote(kind)}`)}>{kind}</a>,
  ];
}

function LatestError({ job }: { readonly job: JobDetailReply }) {
  const { error } = job;
  if (error === null || job.state === "SUCCESS") return null;
  return (
    <section class="latest-error" aria-label={words.job.latestError}>
      <Icon name="FAILED" />
      <div>
        <p>
          <strong class="mono">{error.code}</strong>
        </p>
        <pre class="error-text">{error.message ?? words.job.noMessage}</pre>
        {job.state === "FAILED" ? <p class="meaning">{whatItMeans(job)}</p> : null}
        <p>
          <Link
            to={addresses.jobsWith(`state:failed kind:${quote(job.kind)} error:${quote(error.code)}`)}
            text={words.job.otherFailures(job.kind)}
          />
        </p>
      </div>
    </section>
  );
}

/** What became of it, and what a person can do. */
function whatItMeans({ events, attempt, failures, maxAttempts }: JobDetailReply): string {
  const last = events.find(({ to, attempt: of }) => to === "FAILED" && of === attempt);
  const reason = last?.reason ?? null;
  const used = words.job.attemptsFailed(failures, maxAttempts);
  const why =
    reason === "permanent"
      ? words.job.refused(attempt, used)
      : failures >= maxAttempts
        ? words.job.noneLeft(used)
        : words.job.wasLast(attempt, reasonText(reason));
  return `${why} ${words.job.fixThenRetry}`;
}

/** A change of many names no job: its events have the caller of one. */
const targetsOf = ({ id, run, events }: JobDetailReply): string =>
  [
    `/jobs/${id}`,
    ...(run === null ? [] : [`/runs/${run}`]),
    ...(events.some(({ caller }) => caller !== null) ? ["/dead-letters", "/bulk"] : []),
  ].join(",");

const Data = ({ title, value }: { readonly title: string; readonly value: unknown }) => (
  <Card title={title}>
    {value === null || value === undefined ? (
      <p class="card-empty">{words.shared.none}</p>
    ) : (
      <JsonView value={value} label={title} />
    )}
  </Card>
);

/** The zone of a schedule, once it is known. Undefined for what belongs to no schedule, or to one that was deleted. */
function useZone(schedule: string | null): string | undefined {
  const zone = useResource(
    `zone ${schedule ?? ""}`,
    async (signal) =>
      schedule === null ? null : (await ask("GET /schedules/:id", { id: schedule }, { signal })).timezone,
    { again: "never" },
  );
  return zone.data ?? undefined;
}

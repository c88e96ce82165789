import { Card, Copy, JobLink, Link, Time } from "../parts/index.ts";
import type { ComponentChildren } from "preact";
import { addresses } from "../address.ts";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { words } from "../language/words.ts";
import { attemptsText } from "../language/spoken.ts";

/** What is written in the job's row, with links to what it belongs to. */
export function Facts({ job, zone }: { readonly job: JobDetailReply; readonly zone?: string | undefined }) {
  const time = (at: string | null) => (at === null ? null : <Time at={at} zone={zone} />);
  const mono = (text: string | null) => (text === null ? null : <span class="mono">{text}</span>);
  const run = (id: string | null, task: string | null) =>
    id === null ? null : <Link to={addresses.run(id)} text={task === null ? `#${id}` : `#${id} · ${task}`} />;
  const source = sourceOf(job);
  return (
    <Card title={words.job.facts}>
      <dl class="facts">
        <Fact name={words.labels.key}>{mono(job.key)}</Fact>
        <Fact name={words.job.copiedFrom}>{source === null ? null : <JobLink id={source} />}</Fact>
        <Fact name={words.labels.lane}>
          <Link to={addresses.jobsWith(`lane:${job.lane}`)} text={job.lane} />
        </Fact>
        <Fact name={words.labels.attempts}>
          {attemptsText(job)}
          {job.interruptions > 0 ? words.job.interrupted(job.interruptions) : ""}
        </Fact>
        <Fact name={words.labels.due}>{time(job.dueAt)}</Fact>
        <Fact name={words.job.joined}>
          {job.dueAtMost === null ? null : [words.job.joinedTimes(job.joined ?? 0), " ", time(job.dueAtMost)]}
        </Fact>
        <Fact name={words.job.batch}>
          {job.batchKey === null
            ? null
            : [job.batchKey, " ", job.batchOf === null ? null : <JobLink id={job.batchOf} />]}
        </Fact>
        <Fact name={words.job.created}>{time(job.createdAt)}</Fact>
        <Fact name={words.labels.schedule}>
          {job.schedule === null ? null : <Link to={addresses.schedule(job.schedule)} text={job.schedule} />}
        </Fact>
        <Fact name={words.job.scheduledFor}>{time(job.scheduledFor)}</Fact>
        <Fact name={words.labels.run}>{run(job.run, job.task)}</Fact>
        <Fact name={words.job.follows}>{run(job.followsRun, null)}</Fact>
        <Fact name={words.job.waitsForSlot}>{job.heldOn}</Fact>
        <Fact name={words.labels.worker}>{mono(job.worker)}</Fact>
        <Fact name={words.job.leaseUntil}>{time(job.leaseUntil)}</Fact>
        <Fact name={words.job.changes}>
          <Copy text={`npx belfry events --job ${job.id}`} label={words.job.copyChanges} />
        </Fact>
        <Fact name={words.job.trace}>
          <Copy text={job.trace} label={words.job.copyTrace} />
        </Fact>
      </dl>
    </Card>
  );
}

/** The job whose payload it began with: its key says it. */
const sourceOf = ({ key }: JobDetailReply): string | null => /^copy-of-(\d+)-\d+$/.exec(key ?? "")?.[1] ?? null;

/** A fact that is null is left out. */
const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) =>
  children === null ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );

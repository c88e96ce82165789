import { Card, Copy, JobLink, Link, Time } from "../parts/index.ts";
import type { ComponentChildren } from "preact";
import { addresses } from "../address.ts";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { words } from "../language/words.ts";
import { attemptsText } from "../language/spoken.ts";

/** What is written in the job's row, with links to what it belongs to. */
export const Facts = ({ job, zone }: { readonly job: JobDetailReply; readonly zone?: string | undefined }) => (
  <Card title={words.job.facts}>
    <dl class="facts">
      <Fact name={words.labels.key}>{job.key === null ? null : <span class="mono">{job.key}</span>}</Fact>
      <Fact name={words.job.copiedFrom}>{sourceOf(job) === null ? null : <JobLink id={sourceOf(job) ?? ""} />}</Fact>
      <Fact name={words.labels.lane}>
        <Link to={addresses.jobsWith(`lane:${job.lane}`)} text={job.lane} />
      </Fact>
      <Fact name={words.labels.attempts}>
        {attemptsText(job)}
        {job.interruptions > 0 ? words.job.interrupted(job.interruptions) : ""}
      </Fact>
      <Fact name={words.labels.due}>
        <Time at={job.dueAt} zone={zone} />
      </Fact>
      <Fact name={words.job.joined}>
        {job.dueAtMost === null ? null : (
          <>
            {words.job.joinedTimes(job.joined ?? 0)} <Time at={job.dueAtMost} zone={zone} />
          </>
        )}
      </Fact>
      <Fact name={words.job.batch}>
        {job.batchKey === null ? null : (
          <>
            {job.batchKey} {job.batchOf === null ? null : <JobLink id={job.batchOf} />}
          </>
        )}
      </Fact>
      <Fact name={words.job.created}>
        <Time at={job.createdAt} zone={zone} />
      </Fact>
      <Fact name={words.labels.schedule}>
        {job.schedule === null ? null : <Link to={addresses.schedule(job.schedule)} text={job.schedule} />}
      </Fact>
      <Fact name={words.job.scheduledFor}>
        {job.scheduledFor === null ? null : <Time at={job.scheduledFor} zone={zone} />}
      </Fact>
      <Fact name={words.labels.run}>
        {job.run === null ? null : (
          <Link to={addresses.run(job.run)} text={job.task === null ? `#${job.run}` : `#${job.run} · ${job.task}`} />
        )}
      </Fact>
      <Fact name={words.job.follows}>
        {job.followsRun === null ? null : <Link to={addresses.run(job.followsRun)} text={`#${job.followsRun}`} />}
      </Fact>
      <Fact name={words.job.waitsForSlot}>{job.heldOn}</Fact>
      <Fact name={words.labels.worker}>{job.worker === null ? null : <span class="mono">{job.worker}</span>}</Fact>
      <Fact name={words.job.leaseUntil}>
        {job.leaseUntil === null ? null : <Time at={job.leaseUntil} zone={zone} />}
      </Fact>
      <Fact name={words.job.changes}>
        <Copy text={`npx belfry events --job ${job.id}`} label={words.job.copyChanges} />
      </Fact>
      <Fact name={words.job.trace}>
        <Copy text={job.trace} label={words.job.copyTrace} />
      </Fact>
    </dl>
  </Card>
);

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

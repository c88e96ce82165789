import { Card, Copy, Facts, JobLink, Link, Time } from "../parts/index.ts";
import { addresses } from "../address.ts";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { words } from "../language/words.ts";
import { attemptsText } from "../language/spoken.ts";

/** What is written in the job's row, with links to what it belongs to. */
export function JobFacts({ job, zone }: { readonly job: JobDetailReply; readonly zone?: string | undefined }) {
  const time = (at: string | null) => (at === null ? null : <Time at={at} zone={zone} />);
  const mono = (text: string | null) => (text === null ? null : <span class="mono">{text}</span>);
  const run = (id: string | null, task: string | null) =>
    id === null ? null : <Link to={addresses.run(id)} text={task === null ? `#${id}` : `#${id} · ${task}`} />;
  const { schedule } = job;
  const source = sourceOf(job);
  const interrupted = job.interruptions > 0 ? words.job.interrupted(job.interruptions) : "";
  const joined = words.job.joinedTimes(job.joined ?? 0);
  const batch = job.batchOf === null ? null : <JobLink id={job.batchOf} />;
  return (
    <Card title={words.job.facts}>
      <Facts
        of={[
          [words.labels.key, mono(job.key)],
          [words.job.copiedFrom, source === null ? null : <JobLink id={source} />],
          [words.labels.lane, <Link to={addresses.jobsWith(`lane:${job.lane}`)} text={job.lane} />],
          [words.labels.attempts, `${attemptsText(job)}${interrupted}`],
          [words.labels.due, time(job.dueAt)],
          [words.job.joined, job.dueAtMost === null ? null : [joined, " ", time(job.dueAtMost)]],
          [words.job.batch, job.batchKey === null ? null : [job.batchKey, " ", batch]],
          [words.job.created, time(job.createdAt)],
          [
            words.labels.schedule,
            schedule === null ? null : <Link to={addresses.schedule(schedule)} text={schedule} />,
          ],
          [words.job.scheduledFor, time(job.scheduledFor)],
          [words.labels.run, run(job.run, job.task)],
          [words.job.follows, run(job.followsRun, null)],
          [words.job.waitsForSlot, job.heldOn],
          [words.labels.worker, mono(job.worker)],
          [words.job.leaseUntil, time(job.leaseUntil)],
          [words.job.changes, <Copy text={`npx belfry events --job ${job.id}`} label={words.job.copyChanges} />],
          [words.job.trace, <Copy text={job.trace} label={words.job.copyTrace} />],
        ]}
      />
    </Card>
  );
}

/** The job whose payload it began with: its key says it. */
const sourceOf = ({ key }: JobDetailReply): string | null => /^copy-of-(\d+)-\d+$/.exec(key ?? "")?.[1] ?? null;

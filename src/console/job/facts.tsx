import type { ComponentChildren } from "preact";
import { addresses } from "../address.ts";
import { Copy } from "../parts/copy.tsx";
import { Time } from "../parts/time.tsx";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { words } from "../language/words.ts";
import { attemptsText } from "../language/spoken.ts";

/** What is written in the job's row, with links to what it belongs to. */
export const Facts = ({ job, zone }: { readonly job: JobDetailReply; readonly zone?: string | undefined }) => (
  <section class="card" aria-label={words.job.facts}>
    <header class="card-head">
      <h2>{words.job.facts}</h2>
    </header>
    <dl class="facts">
      <Fact name={words.labels.key}>{job.key === null ? null : <span class="mono">{job.key}</span>}</Fact>
      <Fact name={words.job.copiedFrom}>
        {sourceOf(job) === null ? null : (
          <a class="link" href={addresses.job(sourceOf(job) ?? "")}>
            {`#${sourceOf(job)}`}
          </a>
        )}
      </Fact>
      <Fact name={words.labels.lane}>
        <a class="link" href={addresses.jobsWith(`lane:${job.lane}`)}>
          {job.lane}
        </a>
      </Fact>
      <Fact name={words.labels.attempts}>
        {attemptsText(job)}
        {job.interruptions > 0 ? words.job.interrupted(job.interruptions) : ""}
      </Fact>
      <Fact name={words.labels.due}>
        <Time at={job.dueAt} zone={zone} />
      </Fact>
      <Fact name={words.job.created}>
        <Time at={job.createdAt} zone={zone} />
      </Fact>
      <Fact name={words.labels.schedule}>
        {job.schedule === null ? null : (
          <a class="link" href={addresses.schedule(job.schedule)}>
            {job.schedule}
          </a>
        )}
      </Fact>
      <Fact name={words.job.scheduledFor}>
        {job.scheduledFor === null ? null : <Time at={job.scheduledFor} zone={zone} />}
      </Fact>
      <Fact name={words.labels.run}>
        {job.run === null ? null : (
          <a class="link" href={addresses.run(job.run)}>
            {job.task === null ? `#${job.run}` : `#${job.run} · ${job.task}`}
          </a>
        )}
      </Fact>
      <Fact name={words.job.follows}>
        {job.followsRun === null ? null : (
          <a class="link" href={addresses.run(job.followsRun)}>{`#${job.followsRun}`}</a>
        )}
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
  </section>
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

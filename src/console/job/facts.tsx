import type { ComponentChildren } from "preact";
import { addresses } from "../address.ts";
import { Copy } from "../parts/copy.tsx";
import { Time } from "../parts/time.tsx";
import type { ShownJobDetail } from "../shape.ts";
import { triesText } from "../words.ts";

/** What is written in the job's row, with links to what it belongs to. */
export const Facts = ({ job, zone }: { readonly job: ShownJobDetail; readonly zone?: string | undefined }) => (
  <section class="card" aria-label="Facts">
    <header class="card-head">
      <h2>Facts</h2>
    </header>
    <dl class="facts">
      <Fact name="Key">{job.key === null ? null : <span class="mono">{job.key}</span>}</Fact>
      <Fact name="Lane">
        <a class="link" href={addresses.jobsWith(`lane:${job.lane}`)}>
          {job.lane}
        </a>
      </Fact>
      <Fact name="Attempts">
        {triesText(job)}
        {job.interruptions > 0 ? `, ${job.interruptions} interrupted` : ""}
      </Fact>
      <Fact name="Due">
        <Time at={job.dueAt} zone={zone} />
      </Fact>
      <Fact name="Created">
        <Time at={job.createdAt} zone={zone} />
      </Fact>
      <Fact name="Schedule">
        {job.schedule === null ? null : (
          <a class="link" href={addresses.schedule(job.schedule)}>
            {job.schedule}
          </a>
        )}
      </Fact>
      <Fact name="Scheduled for">{job.scheduledFor === null ? null : <Time at={job.scheduledFor} zone={zone} />}</Fact>
      <Fact name="Run">
        {job.run === null ? null : (
          <a class="link" href={addresses.run(job.run)}>
            {job.task === null ? `#${job.run}` : `#${job.run} · ${job.task}`}
          </a>
        )}
      </Fact>
      <Fact name="Waits for slot">{job.heldOn}</Fact>
      <Fact name="Worker">{job.worker === null ? null : <span class="mono">{job.worker}</span>}</Fact>
      <Fact name="Lease until">{job.leaseUntil === null ? null : <Time at={job.leaseUntil} zone={zone} />}</Fact>
      <Fact name="Changes">
        <Copy text={`npx belfry logs --job ${job.id}`} label="Copy the command that shows its changes of state" />
      </Fact>
      <Fact name="Trace">
        <Copy text={job.trace} label="Copy the trace" />
      </Fact>
    </dl>
  </section>
);

/** A fact that is null is left out. */
const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) =>
  children === null ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );

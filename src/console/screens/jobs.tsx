import { loadJobs } from "../client.ts";
import { addresses } from "../address.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { StateBadge } from "../parts/state-badge.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../resource.ts";
import type { Job } from "../shape.ts";

export function JobsScreen() {
  const page = useResource("jobs", (signal) => loadJobs({}, { cursor: null, limit: 100 }, signal));
  return (
    <>
      <h1>Jobs</h1>
      <Loaded of={page}>
        {({ jobs }) => (jobs.length === 0 ? <Empty title="No jobs yet" /> : <JobTable jobs={jobs} />)}
      </Loaded>
    </>
  );
}

const JobTable = ({ jobs }: { readonly jobs: readonly Job[] }) => (
  <table class="table">
    <thead>
      <tr>
        <th scope="col">State</th>
        <th scope="col">Kind</th>
        <th scope="col">Key</th>
        <th scope="col">Lane</th>
        <th scope="col">Due</th>
      </tr>
    </thead>
    <tbody>
      {jobs.map((job) => (
        <tr key={job.id}>
          <td>
            <StateBadge state={job.state} />
          </td>
          <td>
            <a href={addresses.job(job.id)}>{job.kind}</a>
          </td>
          <td class="mono">{job.key}</td>
          <td>{job.lane}</td>
          <td>
            <Time at={job.dueAt} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

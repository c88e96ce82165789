import { addresses } from "../address.ts";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { ShownJob } from "../shape.ts";

export const LastFailures = ({ jobs }: { readonly jobs: readonly ShownJob[] }) => (
  <section class="card" aria-label="Last failures">
    <header class="card-head">
      <h2>Last failures</h2>
      <span class="space" />
      <a class="link" href={addresses.deadLetters}>
        Dead letters
      </a>
    </header>
    {jobs.length === 0 ? (
      <p class="card-empty">No job has failed for good</p>
    ) : (
      <table class="table fixed">
        <TableHead columns={[{ name: "Kind", width: "col-kind" }, "Error", { name: "Ended", width: "col-time" }]} />
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
              <td class="cut">
                <a class="row-link" href={addresses.job(job.id)}>
                  {job.kind} <span class="dim">{`#${job.id}`}</span>
                </a>
              </td>
              <td class="cut dim" title={job.error?.message ?? undefined}>
                <span class="mono error-code">{job.error?.code ?? "FAILED"}</span> {job.error?.message}
              </td>
              <td>
                <Time at={job.finishedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);

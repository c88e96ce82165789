import { addresses } from "../address.ts";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { JobReply } from "../../api/shape/job.ts";
import { words } from "../language/words.ts";

/** By their ends: a job may fail long after younger ones. */
const newestFirst = (a: JobReply, b: JobReply): number => (b.finishedAt ?? "").localeCompare(a.finishedAt ?? "");

export const LastFailures = ({ jobs }: { readonly jobs: readonly JobReply[] }) => (
  <section class="card" aria-label={words.overview.lastFailures}>
    <header class="card-head">
      <h2>{words.overview.lastFailures}</h2>
      <span class="space" />
      <a class="link" href={addresses.deadLetters}>
        {words.places.deadLetters}
      </a>
    </header>
    {jobs.length === 0 ? (
      <p class="card-empty">{words.overview.noFailure}</p>
    ) : (
      <table class="table fixed stacks last-failures">
        <TableHead
          columns={[
            { name: words.labels.kind, width: "col-kind" },
            words.labels.error,
            { name: words.labels.ended, width: "col-time" },
          ]}
        />
        <tbody>
          {jobs.toSorted(newestFirst).map((job) => (
            <tr key={job.id}>
              <td class="cut">
                <a class="row-link" href={addresses.job(job.id)}>
                  {job.kind} <span class="dim">{`#${job.id}`}</span>
                </a>
              </td>
              <td class="cut dim wide" title={job.error?.message ?? undefined}>
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

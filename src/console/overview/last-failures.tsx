import { type Column, ErrorText, Link, NumberedLink, TableCard, Time } from "../parts/index.ts";
import { addresses } from "../address.ts";
import type { JobReply } from "../../api/shape/job.ts";
import { words } from "../language/words.ts";

/** By their ends: a job may fail long after younger ones. */
const newestFirst = (a: JobReply, b: JobReply): number => (b.finishedAt ?? "").localeCompare(a.finishedAt ?? "");

const columns: readonly Column<JobReply>[] = [
  {
    name: words.labels.kind,
    width: "minmax(120px, 3fr)",
    class: "cut",
    cell: ({ id, kind }) => <NumberedLink to={addresses.job(id)} {...{ kind, id }} />,
  },
  {
    name: words.labels.error,
    width: "minmax(0, 5fr)",
    class: "cut dim wide",
    title: ({ error }) => error?.message ?? undefined,
    cell: ({ error }) => <ErrorText code={error?.code ?? "FAILED"} message={error?.message} />,
  },
  { name: words.labels.ended, width: "150px", cell: ({ finishedAt }) => <Time at={finishedAt} /> },
];

export const LastFailures = ({ jobs }: { readonly jobs: readonly JobReply[] }) => (
  <TableCard
    title={words.overview.lastFailures}
    about={<Link to={addresses.deadLetters} text={words.places.deadLetters} />}
    none={words.overview.noFailure}
    look="stacks last-failures"
    columns={columns}
    rows={jobs.toSorted(newestFirst)}
    idOf={({ id }) => id}
  />
);

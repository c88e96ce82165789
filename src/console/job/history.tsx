import { orNothing, StateBadge, TableCard, Time } from "../parts/index.ts";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { words } from "../language/words.ts";
import { reasonText } from "../language/spoken.ts";

/** Why it moved, and who asked for it. */
const movedBy = ({ reason, caller }: JobDetailReply["events"][number]): string =>
  caller === null ? reasonText(reason) : `${reasonText(reason)} by ${caller}`;

/** What is kept of its changes of state, the newest first: how attempts ended, and what had a reason. */
export function History({ job, zone }: { readonly job: JobDetailReply; readonly zone?: string | undefined }) {
  const events = job.events.toReversed();
  return (
    <TableCard
      title={words.job.events}
      about={words.job.newestFirst(events.length)}
      rows={events}
      idOf={({ id }) => id}
      columns={[
        { name: words.labels.at, cell: ({ at }) => <Time at={at} zone={zone} /> },
        { name: words.labels.state, cell: ({ to }) => <StateBadge state={to} /> },
        { name: words.job.attempt, isNumber: true, cell: ({ attempt }) => orNothing(attempt) },
        { name: words.labels.why, cell: movedBy },
        {
          name: words.labels.worker,
          class: "mono dim cut-text",
          title: ({ worker }) => worker ?? undefined,
          cell: ({ worker }) => worker,
        },
      ]}
    />
  );
}

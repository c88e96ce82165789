import { now } from "../clock.ts";
import { Icon } from "../parts/index.ts";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { durationText } from "../time.ts";
import { words } from "../language/words.ts";

/** That a job runs, how far it is, and whether its worker was heard of lately. */
export function Heartbeat({ job }: { readonly job: JobDetailReply }) {
  const ran = job.startedAt === null ? 0 : Math.max(0, now.value - Date.parse(job.startedAt));
  const percent = job.progress === null ? null : `${Math.round(job.progress * 100)} %`;
  return (
    <div class="note running">
      <Icon name="RUNNING" />
      <div class="note-text">
        <p>{[words.job.runningFor(durationText(ran)), ...leaseWords(job.leaseUntil)].join(", ")}</p>
        {job.progress === null ? null : (
          <progress max={1} value={job.progress} aria-label={words.labels.progress}>
            {percent}
          </progress>
        )}
      </div>
      {percent === null ? null : <strong class="number">{percent}</strong>}
    </div>
  );
}

function leaseWords(leaseUntil: string | null): readonly string[] {
  if (leaseUntil === null) return [];
  const left = Date.parse(leaseUntil) - now.value;
  return [left > 0 ? words.job.leaseHolds(durationText(left)) : words.job.leasePassed];
}

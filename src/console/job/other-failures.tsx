import { addresses } from "../address.ts";
import { quote } from "../filter/terms.ts";
import { useAnswer } from "../resource.ts";
import type { JobReply } from "../../api/shape/job.ts";
import { Card } from "../parts/index.ts";
import { words } from "../language/words.ts";

const groupsShown = 5;

/** What the other failures of this kind look like, the most frequent first. */
export function OtherFailures({ job: { kind } }: { readonly job: JobReply }) {
  const found = useAnswer("GET /dead-letters", { kind }, { again: "slow" });
  const groups = (found.data?.groups ?? []).slice(0, groupsShown);
  if (groups.length === 0) return null;
  return (
    <Card title={words.job.failuresOfKind}>
      <ul class="other-failures">
        {groups.map(({ fingerprint, jobs, errorCode, errorMessage }) => (
          <li key={fingerprint}>
            <a
              class="link mono"
              href={addresses.jobsWith(`state:failed kind:${quote(kind)} fingerprint:${fingerprint}`)}
            >
              {errorCode ?? words.shared.noCode}
            </a>
            <span class="dim">{words.many.job(jobs)}</span>
            <span class="clamp dim">{errorMessage}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

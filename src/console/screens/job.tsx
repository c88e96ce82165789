import { useRoute } from "preact-iso";
import { cancelJob, loadJob, retryJob } from "../client.ts";
import { Loaded } from "../parts/loaded.tsx";
import { StateBadge } from "../parts/state-badge.tsx";
import { useResource } from "../resource.ts";
import { isFinal, mayRetry } from "../shape.ts";

export function JobScreen() {
  const id = useRoute().params["id"] ?? "";
  const job = useResource(`job ${id}`, (signal) => loadJob(id, signal));
  return (
    <Loaded of={job}>
      {(found) => (
        <>
          <h1>{`${found.kind} ${found.id}`}</h1>
          <StateBadge state={found.state} />
          {mayRetry(found.state) ? (
            <button type="button" class="button" onClick={() => void retryJob(id).then(job.reload)}>
              Retry
            </button>
          ) : null}
          {isFinal(found.state) ? null : (
            <button type="button" class="button" onClick={() => void cancelJob(id).then(job.reload)}>
              Cancel
            </button>
          )}
          <pre>{JSON.stringify(found, null, 2)}</pre>
        </>
      )}
    </Loaded>
  );
}

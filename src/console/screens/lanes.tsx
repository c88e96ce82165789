import { addresses } from "../address.ts";
import { loadLanes, loadWorkers, pauseLane, resumeLane } from "../client.ts";
import { confirmed } from "../parts/confirm.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { say, sayFailed } from "../parts/toast.tsx";
import { useResource } from "../resource.ts";
import { LaneTable } from "../lanes/lane-table.tsx";
import { SlotTable } from "../lanes/slot-table.tsx";
import { WorkerTable } from "../lanes/worker-table.tsx";
import type { ShownLane } from "../shape.ts";
import { useTitle } from "../title.ts";

export function LanesScreen() {
  useTitle("Lanes & workers");
  const lanes = useResource("lanes", loadLanes);
  const workers = useResource("workers", loadWorkers);
  return (
    <>
      <header class="screen-head">
        <h1>Lanes &amp; workers</h1>
      </header>
      <Loaded of={lanes}>
        {(found) => (
          <>
            <section class="card" aria-label="Lanes">
              <LaneTable lanes={found.lanes} onToggle={(lane) => void toggle(lane, lanes.reload)} />
            </section>
            {found.caps.length === 0 ? null : <SlotTable title="Caps" slots={found.caps} />}
          </>
        )}
      </Loaded>
      <Loaded of={workers}>
        {(found) =>
          found.length === 0 ? (
            <Empty title="No worker was seen in the last hour">
              <p>
                A lane&rsquo;s worker starts when a job of it is due. Enqueue one, or look at the{" "}
                <a class="link" href={addresses.jobsWith("state:queued")}>
                  jobs that wait for one
                </a>
                :
              </p>
              <pre class="command">npx belfry jobs enqueue hello</pre>
            </Empty>
          ) : (
            <WorkerTable workers={found} />
          )
        }
      </Loaded>
    </>
  );
}

async function toggle({ name, paused }: ShownLane, onDone: () => void): Promise<void> {
  const text = "Running jobs end; nothing else of this lane starts until it goes on.";
  if (!paused && !(await confirmed({ title: `Pause lane ${name}?`, text, action: "Pause the lane", danger: true })))
    return;
  try {
    await (paused ? resumeLane(name) : pauseLane(name));
    say(paused ? `Lane ${name} goes on` : `Lane ${name} is paused`);
  } catch (error) {
    sayFailed(`Lane ${name} was not changed`, error);
  }
  onDone();
}

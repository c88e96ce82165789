import { Audits, Empty, Link, Loaded, ScreenHead } from "../parts/index.ts";
import { addresses } from "../address.ts";
import { useAnswer } from "../resource.ts";
import { LaneTable } from "../lanes/lane-table.tsx";
import { SlotTable } from "../lanes/slot-table.tsx";
import { WorkerTable } from "../lanes/worker-table.tsx";
import { words } from "../language/words.ts";

export function LanesScreen() {
  const lanes = useAnswer("GET /lanes");
  return (
    <>
      <ScreenHead title={words.places.lanes} />
      <Loaded of={lanes}>
        {(found) => (
          <>
            <section class="card" aria-label={words.lanes.lanes}>
              <LaneTable lanes={found.lanes} onDone={lanes.reload} />
              <p class="form-lead small">{words.lanes.setIn}</p>
            </section>
            {found.caps.length === 0 ? null : (
              <SlotTable title={words.lanes.caps} slots={found.caps} onDone={lanes.reload} />
            )}
            {found.workers.length === 0 ? <NoWorker /> : <WorkerTable workers={found.workers} />}
          </>
        )}
      </Loaded>
      <Audits target="/lanes" />
    </>
  );
}

const NoWorker = () => (
  <Empty title={words.lanes.noWorker}>
    <p>{words.lanes.whenItStarts(<Link to={addresses.jobsWith("state:queued")} text={words.lanes.jobsThatWait} />)}</p>
    <pre class="command">npx belfry jobs enqueue hello</pre>
  </Empty>
);

import {
  acting,
  answerTo,
  Audits,
  Empty,
  Link,
  Loaded,
  pauseFields,
  pauseOf,
  say,
  ScreenHead,
} from "../parts/index.ts";
import { addresses } from "../address.ts";
import { ask } from "../http.ts";
import { useResource } from "../resource.ts";
import { LaneTable } from "../lanes/lane-table.tsx";
import { SlotTable } from "../lanes/slot-table.tsx";
import { WorkerTable } from "../lanes/worker-table.tsx";
import type { LaneReply } from "../../api/shape/overview.ts";
import { words } from "../language/words.ts";

export function LanesScreen() {
  const lanes = useResource("lanes", (signal) => ask("GET /lanes", {}, { signal }));
  return (
    <>
      <ScreenHead title={words.places.lanes} />
      <Loaded of={lanes}>
        {(found) => (
          <>
            <section class="card" aria-label={words.lanes.lanes}>
              <LaneTable lanes={found.lanes} onToggle={(lane) => void toggle(lane, lanes.reload)} />
              <p class="form-lead foot">{words.lanes.setIn}</p>
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

async function toggle({ name, paused }: LaneReply, onDone: () => void): Promise<void> {
  const question = { title: words.lanes.pauseQuestion(name), text: words.lanes.pauseText, danger: true };
  const pause = paused ? {} : await answerTo({ ...question, fields: pauseFields, action: words.lanes.pause });
  if (pause === null) return;
  await acting(words.lanes.notChanged(name), async () => {
    await ask(`POST /lanes/:name/${paused ? "resume" : "pause"}`, { name }, { body: pauseOf(pause) });
    say(paused ? words.lanes.goesOn(name) : words.lanes.isPaused(name));
  });
  onDone();
}

import { type CellRow, CellTable, type DrawnCell, Loaded, Time } from "../parts/index.ts";
import { addresses } from "../address.ts";
import { lookOf } from "../jobs/phase.ts";
import type { RunMatrixReply } from "../../insight/run-matrix.ts";
import { useAnswer } from "../resource.ts";
import { words } from "../language/words.ts";

/** As a task that ended so. */
const fills = { RUNNING: "running", CANCELING: "canceled", DONE: "success", FAILED: "failed", CANCELED: "canceled" };

/** The last runs of a graph side by side: which task fails since when, and which only at times. */
export function RunMatrix({ run }: { readonly run: string }) {
  const found = useAnswer("GET /runs/:id/matrix", { id: run }, { again: "slow" });
  return (
    <Loaded of={found}>
      {(matrix) => (
        <CellTable
          title={words.matrix.title}
          how={matrix.isMore ? words.matrix.isMore : words.matrix.how}
          names={[
            words.tasks.columns.task,
            <span>
              <Time at={matrix.runs[0]?.createdAt ?? null} /> – <Time at={matrix.runs.at(-1)?.createdAt ?? null} />
            </span>,
          ]}
          rows={rowsOf(matrix, run)}
          widths={["clamp(84px, 22vw, 200px)", "36px"]}
        />
      )}
    </Loaded>
  );
}

function rowsOf({ tasks, runs }: RunMatrixReply, own: string): readonly CellRow[] {
  const drawn = (run: string, fill: string): Pick<DrawnCell, "look"> => ({
    look: `square fill-${fill}${run === own ? " here" : ""}`,
  });
  const whole = runs.map(({ id, key, state }): DrawnCell => {
    return { ...drawn(id, fills[state]), text: `${key} #${id}: ${words.runs.states[state]}`, href: addresses.run(id) };
  });
  const failed = runs.filter(({ state }) => state === "FAILED").length;
  const lines = tasks.map((task, place): CellRow => {
    const cells = runs.map(({ id, jobs, states }): DrawnCell | null => {
      const [job = null, state = null] = [jobs[place], states[place]];
      if (job === null || state === null) return null;
      const text = `${task} #${id}: ${lookOf(state).text}`;
      return { ...drawn(id, state.toLowerCase()), text, href: addresses.job(job) };
    });
    const failures = runs.filter(({ states }) => states[place] === "FAILED");
    return { id: task, cells, failed: failures.length, of: cells.filter((cell) => cell !== null).length };
  });
  return [{ id: words.matrix.whole, cells: whole, failed, of: runs.length }, ...lines];
}

import { type Column, DataTable, Loaded, Picture, placed, RowLink, Time } from "../parts/index.ts";
import { addresses } from "../address.ts";
import { lookOf } from "../jobs/phase.ts";
import type { RunMatrixReply } from "../../insight/run-matrix.ts";
import { numberText } from "../language/number.ts";
import { useAnswer } from "../resource.ts";
import { words } from "../language/words.ts";

interface Line {
  readonly id: string;
  /** A line of tasks leads to this. */
  readonly to: string | null;
  /** One for each run; null where the run has no such task. */
  readonly cells: readonly ({ readonly look: string; readonly text: string; readonly href: string } | null)[];
  readonly failed: number;
}

/** As a task that ended so. */
const runFills = { RUNNING: "running", CANCELING: "canceled", DONE: "success", FAILED: "failed", CANCELED: "canceled" };

/** The last runs of a graph side by side: which task fails since when, and which only at times. */
export function RunMatrix({ run }: { readonly run: string }) {
  const found = useAnswer("GET /runs/:id/matrix", { id: run }, { again: "slow" });
  return <Loaded of={found}>{(matrix) => <Drawn of={matrix} own={run} />}</Loaded>;
}

function linesOf({ tasks, runs }: RunMatrixReply): readonly Line[] {
  const whole = runs.map(({ id, key, state }) => ({
    look: `square fill-${runFills[state]}`,
    text: `${key} #${id}: ${words.runs.states[state]}`,
    href: addresses.run(id),
  }));
  const lines = tasks.map((task, place): Line => ({
    id: task,
    to: null,
    cells: runs.map(({ id, jobs, states }) => {
      const [job = null, state = null] = [jobs[place], states[place]];
      if (job === null || state === null) return null;
      const text = `${task} #${id}: ${lookOf(state).text}`;
      return { look: `square fill-${state.toLowerCase()}`, text, href: addresses.job(job) };
    }),
    failed: runs.filter(({ states }) => states[place] === "FAILED").length,
  }));
  const failed = runs.filter(({ state }) => state === "FAILED").length;
  return [{ id: words.matrix.whole, to: addresses.runs, cells: whole, failed }, ...lines];
}

function Drawn({ of, own }: { readonly of: RunMatrixReply; readonly own: string }) {
  const { runs, isMore } = of;
  const here = runs.findIndex(({ id }) => id === own);
  const columns: readonly Column<Line>[] = [
    {
      name: words.matrix.task,
      width: "minmax(90px, 220px)",
      cell: ({ id, to }) => (to === null ? id : <RowLink to={to} text={id} />),
    },
    {
      name: (
        <span>
          <Time at={runs[0]?.createdAt ?? null} /> – <Time at={runs.at(-1)?.createdAt ?? null} />
        </span>
      ),
      width: "minmax(0, 1fr)",
      class: "gantt",
      cell: ({ cells }) => <Cells {...{ cells, here }} />,
    },
    {
      name: words.states.FAILED,
      width: "104px",
      isNumber: true,
      class: ({ failed }) => (failed > 0 ? "error-code" : "dim"),
      cell: ({ failed }) => `${numberText(failed)} / ${numberText(runs.length)}`,
    },
  ];
  return (
    <Picture look="heat" how={isMore ? words.matrix.isMore : words.matrix.how} style={{ "--cell": "36px" }}>
      <DataTable label={words.matrix.title} columns={columns} rows={linesOf(of)} idOf={({ id }) => id} />
    </Picture>
  );
}

function Cells({ cells, here }: Pick<Line, "cells"> & { readonly here: number }) {
  let n = 0;
  return (
    <span class="heat-cells" style={{ "--cells": String(cells.length) }}>
      {cells.map((cell, run) =>
        cell === null ? (
          <i key={run} />
        ) : (
          <a
            key={run}
            {...placed(n++)}
            class={`${cell.look}${run === here ? " here" : ""}`}
            href={cell.href}
            aria-label={cell.text}
          />
        ),
      )}
    </span>
  );
}

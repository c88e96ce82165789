import Table from "cli-table3";
import { apartPercentMax, type CellsRun } from "./cells.ts";

export const cellsPass = ({ lines }: CellsRun): boolean =>
  lines.every(({ apartPercent }) => Math.abs(apartPercent) <= apartPercentMax);

/** For people. */
export function cellsTable({ cost, lines }: CellsRun): string {
  const table = new Table({
    head: ["ten a batch", "jobs/s", "model", "apart", "cores of other work"],
    colAligns: ["left", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
  for (const { what, perSecond, modelPerSecond, apartPercent, othersCores } of lines) {
    const apart = `${apartPercent > 0 ? "+" : ""}${apartPercent.toFixed(0)} %`;
    table.push([what, whole(perSecond), whole(modelPerSecond), apart, othersCores.toFixed(2)]);
  }
  const about = `a job: Postgres ${whole(cost.postgresUs)} us, Node ${whole(cost.nodeUs)} us; at most ${apartPercentMax} % apart`;
  return `${table.toString()}\n${about}`;
}

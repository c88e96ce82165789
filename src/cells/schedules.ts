/** A schedule is in one cell: what is asked of it goes there. */
import { HttpProblem } from "../api/problem.ts";
import type { ScheduleDetailReply } from "../api/shape/schedule.ts";
import { ask, type Asking, cellAway, type Reach } from "./ask.ts";
import { mapOf, type Routing } from "./routing.ts";
import { cellOf } from "./route.ts";

/** Looks for its id in all cells. A deleted one is found where no other is. */
export async function askSchedule(reach: Reach, id: string, asking: Asking): Promise<Response> {
  const cell = (await holderOf(reach, id, asking)) ?? [...reach.cells.keys()][0] ?? "";
  return await ask(reach, cell, asking);
}

/** A new one goes to the cell that has its id, as a key would, and stays there when the range moves. */
export async function placeSchedule(reach: Reach, routing: Routing, asking: Asking): Promise<Response> {
  const body = (await asking.request
    .clone()
    .json()
    .catch(() => null)) as { readonly id?: unknown } | null;
  const id = typeof body?.id === "string" ? body.id : "";
  const holder = await holderOf(reach, id, asking, { isMade: true });
  return await ask(reach, holder ?? cellOf(await mapOf(routing), id), asking);
}

/** Null: no cell has it. @throws HttpProblem when that is not known, or several have it */
async function holderOf(reach: Reach, id: string, asking: Asking, { isMade = false } = {}): Promise<string | null> {
  if (id === "") return null;
  const path = `/schedules/${encodeURIComponent(id)}`;
  const found = await Promise.all(
    [...reach.cells.keys()].map(async (cell) => {
      const answer = await ask(reach, cell, asking, { method: "GET", path }).catch(() => null);
      if (answer === null || answer.status >= 500) return { cell, is: "away" };
      if (answer.status !== 200) return { cell, is: "none" };
      return { cell, is: ((await answer.json()) as ScheduleDetailReply).deleted ? "deleted" : "there" };
    }),
  );
  const of = (is: string): readonly string[] => found.filter((each) => each.is === is).map(({ cell }) => cell);
  const [there, deleted, away] = [of("there"), of("deleted"), of("away")];
  if (there.length > 1) {
    const detail = `each of the cells ${there.join(", ")} has a schedule ${JSON.stringify(id)}: name one, ?cell=${there.join(" or ?cell=")}`;
    throw new HttpProblem("ask-the-cell", detail, { extra: { cells: [...there] } });
  }
  if (there[0] !== undefined) return there[0];
  if (away[0] !== undefined)
    throw cellAway(away[0], `cell "${away[0]}" does not answer, and may have the schedule ${JSON.stringify(id)}`);
  return isMade ? null : (deleted[0] ?? null);
}

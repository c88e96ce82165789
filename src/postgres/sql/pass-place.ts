import { statement } from "../statement.ts";

/** Behind which key or id the step's next pass looks; '' is the beginning. One row. */
export const placeOf = (step: "resolve" | "wake" | "turns"): string =>
  `select coalesce((select p.behind from belfry.pass_place p where p.step = '${step}'), '') as behind`;

/** $1 step $2 behind. Locks: its row, waiting. */
export const writePlace = statement<never>("pass-place")(`
insert into belfry.pass_place (step, behind) values ($1, $2)
on conflict (step) do update set behind = excluded.behind`);

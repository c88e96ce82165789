import { z } from "zod";
import { blackoutEnd, isInBlackout } from "../admission/blackout.ts";
import { maybeTime } from "./atoms.ts";
import { insightLimits } from "./insight-limits.ts";
import { pauseMembers, pauseShape } from "./pause.ts";
import { kindName } from "../machine/closable-texts.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

export const blackoutShape = {
  blackoutUntil: maybeTime.describe(
    "It is in a blackout, which ends then; null: it is in none, or a person has ended it.",
  ),
  nextBlackoutAt: maybeTime.describe("When its next blackout begins, as far as they are written: some days ahead."),
};

/** Lanes, and then kinds, that were ever paused or have blackouts, by name. Locks nothing. */
export const readLanes = sqlQuery("lanes", {
  params: () => [insightLimits.slotGroupsShownMax],
  row: z.object({ name: z.string(), ...pauseShape, ...blackoutShape }),
})(`
select name, ${pauseMembers}, case when ${isInBlackout} then ${isoText(blackoutEnd)} end as "blackoutUntil",
  ${isoText("(select min(lower(w)) from unnest(l.blackouts) w where lower(w) > belfry.now())")} as "nextBlackoutAt"
from belfry.lane l order by starts_with(name, '${kindName("")}'), name limit $1`);

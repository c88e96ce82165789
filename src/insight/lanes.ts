import { z } from "zod";
import { insightLimits } from "./insight-limits.ts";
import { pauseMembers, pauseShape } from "./pause.ts";
import { sqlQuery } from "./sql-query.ts";

/** Lanes that were ever paused, by name. Locks nothing. */
export const readLanes = sqlQuery("lanes", {
  params: () => [insightLimits.slotGroupsShownMax],
  row: z.object({ name: z.string(), ...pauseShape }),
})(`
select name, ${pauseMembers} from belfry.lane order by name limit $1`);

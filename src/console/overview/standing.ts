import { useRef } from "preact/hooks";
import { correct } from "../clock.ts";
import { ask } from "../http.ts";
import { slowChanges } from "../live.ts";
import { type Resource, useResource } from "../resource.ts";
import type { SummaryReply } from "../../api/shape/overview.ts";

type Troubled = NonNullable<SummaryReply["schedules"]>;

export type Standing = SummaryReply & { readonly schedules: Troubled };

/** One request a refresh: what costs more comes along when the slow changes ask for it, and is kept in between. */
export function useStanding(): Resource<Standing> {
  const own = useRef<{ asked: number; schedules: Troubled | null }>({ asked: -1, schedules: null }).current;
  return useResource("standing", async (signal) => {
    const asked = slowChanges.value;
    const isKept = asked === own.asked;
    const found = await ask("GET /summary", { minutes: isKept ? null : 1 }, { signal });
    correct(found.at);
    if (!isKept) [own.asked, own.schedules] = [asked, found.schedules];
    return { ...found, schedules: own.schedules ?? none };
  });
}

const nothing = { total: 0, isMore: false, first: null };
const none = { failing: nothing, late: nothing, burning: nothing };

import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { addresses } from "../address.ts";
import { correct, currentTime } from "../clock.ts";
import type { CountReply } from "../language/number.ts";
import { ask } from "../http.ts";
import { slowChanges } from "../live.ts";
import { type Resource, useResource } from "../resource.ts";
import type { SummaryReply } from "../../api/shape/overview.ts";

type Troubled = NonNullable<SummaryReply["schedules"]>;

interface Trouble extends CountReply {
  readonly at: number;
}

/** What needs attention on each screen, as its answer or the overview's said it last: the menu shows it. */
export const troubles = signal<Readonly<Record<string, Trouble>>>({});

export function sawTroubles(seen: Readonly<Record<string, CountReply>>): void {
  const found = Object.entries(seen).map(([place, count]) => [place, { ...count, at: currentTime() }] as const);
  troubles.value = { ...troubles.peek(), ...Object.fromEntries(found) };
}

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
    const schedules = own.schedules ?? none;
    sawTroubles({
      [addresses.deadLetters]: found.deadLetters,
      [addresses.schedules]: {
        count: schedules.failing.total + schedules.late.total,
        isMore: schedules.failing.isMore,
      },
      [addresses.lanes]: { count: found.lanes.paused + found.workers.lost, isMore: false },
    });
    return { ...found, schedules };
  });
}

const nothing = { total: 0, isMore: false, first: null };
const none = { failing: nothing, late: nothing, burning: nothing };

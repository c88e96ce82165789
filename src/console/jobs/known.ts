import { kindOf } from "../../machine/closable-texts.ts";
import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { unique } from "../filter/terms.ts";
import { ask } from "../http.ts";
import type { Completions } from "./completion.ts";

const known = signal<Completions>({ kinds: [], lanes: [], errors: [], schedules: [] });

/** Values to complete with, asked for when the first one is wanted. What cannot be loaded is not offered. */
export function useCompletions(): () => Completions {
  const isAsked = useRef(false);
  return () => {
    if (!isAsked.current) void look();
    isAsked.current = true;
    return known.value;
  };
}

async function look(): Promise<void> {
  const [schedules, lanes, failures] = await Promise.allSettled([
    ask("GET /schedules", { limit: 500 }),
    ask("GET /lanes"),
    ask("GET /dead-letters"),
  ]);
  const scheduled = schedules.status === "fulfilled" ? schedules.value.schedules : [];
  const groups = failures.status === "fulfilled" ? failures.value.groups : [];
  known.value = {
    schedules: scheduled.map(({ id }) => id),
    kinds: unique([...scheduled.map(({ kind }) => kind), ...groups.map(({ kind }) => kind)]),
    lanes:
      lanes.status === "fulfilled" ? lanes.value.lanes.flatMap(({ name }) => (kindOf(name) === null ? name : [])) : [],
    errors: unique(groups.flatMap(({ errorCode }) => errorCode ?? [])),
  };
}

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { loadSchedules } from "./client.ts";

const zones = signal<ReadonlyMap<string, string> | null>(null);
let isAsked = false;

/** The zone of a schedule, once it is known. Undefined for what belongs to no schedule. */
export function useZone(schedule: string | null): string | undefined {
  useEffect(() => {
    if (schedule !== null) void look();
  }, [schedule]);
  return schedule === null ? undefined : zones.value?.get(schedule);
}

async function look(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    zones.value = new Map((await loadSchedules()).map(({ id, timezone }) => [id, timezone]));
  } catch {
    // Times are written in UTC until somebody asks again.
    isAsked = false;
  }
}

import { loadZone } from "./client.ts";
import { useResource } from "./resource.ts";

/** The zone of a schedule, once it is known. Undefined for what belongs to no schedule, or to one that was deleted. */
export function useZone(schedule: string | null): string | undefined {
  const zone = useResource(
    `zone ${schedule ?? ""}`,
    async (signal) => (schedule === null ? null : await loadZone(schedule, signal)),
    { again: "never" },
  );
  return zone.data ?? undefined;
}

import type { Registry } from "../define/definition.ts";
import type { SlotGroup } from "../machine/job.ts";
import { blackoutsOf } from "../define/blackout.ts";
import { slotGroupsOfLimit } from "../define/new-job.ts";
import { turnLanesOf } from "../define/turn.ts";
import { scheduleGates } from "../admission/gates.ts";
import type { Ports } from "../machine/ports.ts";
import type { ScheduleRow, ScheduleSpec } from "../machine/schedule.ts";
import { type ScheduleDifference, scheduleDifferences } from "./schedule-difference.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Store } from "../machine/store.ts";

export interface Installed {
  readonly schedules: number;
  readonly slotGroups: number;
  /** How the stored schedules differed from code before, to show to people. */
  readonly differences: readonly ScheduleDifference[];
}

/**
 * Writes what the definitions of this process need in the store: slot groups first, because a job may name only groups
 * that exist, then the schedules of this stage. Safe to repeat, also by several processes at once.
 * `isAlone`: no other release uses the store, so the schedules of apps that this one has not are removed too.
 * @throws DefinitionProblems when a schedule's definition is wrong; nothing is written then.
 */
export async function installDefinitions(
  ports: Pick<Ports, "store">,
  registry: Registry,
  options: { readonly stage: string; readonly isAlone?: boolean },
): Promise<Installed> {
  const specs = specsOf(registry, options.stage);
  const stored = await everySchedule(ports.store);
  const differences = scheduleDifferences(specs, stored, registry.apps);
  const others = options.isAlone === true ? stored.map(({ spec }) => spec.app) : [];
  const groups = slotGroupsOfRegistry(registry, specs);
  if (groups.length > 0) await ports.store.installSlots(groups);
  await installBlackouts(ports, registry);
  await ports.store.installTurns(turnLanesOf(registry.apps, options.stage));
  await ports.store.installSchedules(specs, { apps: [...registry.apps.map((app) => app.name), ...others] });
  return { schedules: specs.length, slotGroups: groups.length, differences };
}

/** Writes when the lanes of these apps start nothing, for the next days. */
export async function installBlackouts(
  { store }: Pick<Ports, "store">,
  { apps }: Pick<Registry, "apps">,
): Promise<Record<string, number>> {
  return { blackouts: await store.installBlackouts(blackoutsOf(apps, await store.now())) };
}

/** The stored form of every schedule in one stage. */
export function specsOf(registry: Registry, stage: string): readonly ScheduleSpec[] {
  return registry.apps.flatMap((app) => app.schedules.map((schedule) => schedule.spec(stage, app.name)));
}

export const slotGroupsOfSchedule = (spec: Pick<ScheduleSpec, "id" | "overlap">): readonly SlotGroup[] =>
  scheduleGates.flatMap((gate) => gate.groupOf(spec) ?? []);

/** By key, because two jobs may share a lock. */
function slotGroupsOfRegistry(registry: Registry, specs: readonly ScheduleSpec[]): readonly SlotGroup[] {
  const groups = new Map<string, SlotGroup>();
  for (const job of registry.jobs.values()) for (const group of job.slotGroups) groups.set(group.key, group);
  for (const limit of registry.limits.values())
    for (const group of slotGroupsOfLimit(limit)) groups.set(group.key, group);
  for (const spec of specs) for (const group of slotGroupsOfSchedule(spec)) groups.set(group.key, group);
  return [...groups.values()];
}

/** All stored schedules by id, read in pages: differences to code must not end at the first one. */
export async function everySchedule(
  store: Pick<Store, "schedules">,
  pageRows: number = contractLimits.schedulesMax,
): Promise<readonly ScheduleRow[]> {
  const rows: ScheduleRow[] = [];
  for (;;) {
    const page = await store.schedules({ limit: pageRows, after: rows.at(-1)?.id });
    rows.push(...page);
    if (page.length < pageRows) return rows;
  }
}

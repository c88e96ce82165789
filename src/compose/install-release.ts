import { marksToKeep } from "../api/sensitive.ts";
import { endPause } from "../insight/circuits.ts";
import { writeAudits } from "../insight/audit.ts";
import { writeKinds } from "../insight/kinds.ts";
import { writeMarks } from "../insight/secrecy.ts";
import { installDefinitions, type Installed } from "../schedule/install-schedules.ts";
import type { Runtime } from "./runtime.ts";

/** Who a deployment is among those that change something. */
const caller = "deployment";
const changesMax = 20;

/**
 * Writes what the definitions of this release need in the store, and notes which kinds and schedules it changed beside the
 * changes that people made.
 * @throws DefinitionProblems when a schedule's definition is wrong
 */
export async function installRelease(
  {
    insight,
    ports,
    registry,
  }: Pick<Runtime, "insight" | "registry"> & { readonly ports: Pick<Runtime["ports"], "store"> },
  options: { readonly stage: string; readonly isAlone?: boolean },
): Promise<Installed> {
  await insight.run(writeMarks, marksToKeep(registry.jobs.values()));
  const kinds = await insight.run(writeKinds, registry);
  const installed = await installDefinitions(ports, registry, options);
  // What the release repairs is seen at once, by one job of each circuit that is open.
  await insight.run(endPause, null);
  const changes = [
    ...kinds.map(({ id, what }) => `kind "${id}" ${what === "changed" ? "changes" : `is ${what}`}`),
    ...installed.differences.flatMap(({ what, message }) => (what === "api" || what === "paused" ? [] : [message])),
  ];
  const detail = { changes: changes.slice(0, changesMax), more: Math.max(0, changes.length - changesMax) };
  const target = `/apps/${registry.apps.map(({ name }) => name).join()}`.slice(0, 500);
  await insight.run(writeAudits, [
    { caller, action: "DEPLOY", target, status: 200, detail: JSON.stringify(detail), trace: "" },
  ]);
  return installed;
}

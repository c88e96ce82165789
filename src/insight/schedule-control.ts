/** Changes of schedules at run time. Schedules that code defines belong to code. */
import type { CalendarOptions } from "../define/define-calendar.ts";
import { fixedPayload } from "../define/define-schedule.ts";
import { readsMoment, type Registry } from "../define/definition.ts";
import { momentPayload } from "../define/moment.ts";
import { occurrenceOf, plannedRow } from "../schedule/fire.ts";
import type { JobId } from "../machine/job.ts";
import { slotGroupsOfSchedule } from "../schedule/install-schedules.ts";
import type { NewPause } from "../machine/pause.ts";
import type { Ports } from "../machine/ports.ts";
import { describe, type Problem, ProblemList } from "../define/problem.ts";
import { secondText } from "../calendar/cron.ts";
import type { ScheduleRow, ScheduleSpec } from "../machine/schedule.ts";
import type { ScheduleChangeOptions, ScheduleRefusal } from "../machine/schedule-store.ts";
import { definitionOfKind, ScheduleRefused, unknownSchedule } from "../schedule/schedule-refused.ts";
import { type PlainOptions, specMaker } from "../define/schedule-spec.ts";
import { afterCommit } from "../run/after-commit.ts";
import { checkId } from "../define/setting.ts";
import { openZone } from "../calendar/zone.ts";

/** A schedule as a person gives it: the options of `defineSchedule`, with the job by its id and the payload a value. */
export interface ScheduleInput extends Omit<
  PlainOptions,
  "every" | "after" | "except" | "only" | "startAt" | "endAt" | "enabled" | "launch"
> {
  readonly kind: string;
  readonly every?: string | undefined;
  readonly except?: readonly CalendarOptions[] | undefined;
  readonly only?: CalendarOptions | undefined;
  readonly startAt?: string | undefined;
  readonly endAt?: string | undefined;
  readonly enabled?: boolean;
}

type ControlPorts = Pick<Ports, "seals" | "store" | "queue" | "clock" | "random" | "log" | "metrics" | "crashPoint">;

/** @throws ScheduleRefused when something is wrong with it, all problems together, or the id is taken. */
export async function createSchedule(
  ports: ControlPorts,
  registry: Registry,
  input: ScheduleInput,
  options: { readonly stage: string },
): Promise<ScheduleRow> {
  const spec = specOfInput(registry, input, options.stage);
  if (registry.schedules.has(spec.id)) throw inCode(spec.id);
  await installSlots(ports, registry, spec);
  return granted(await ports.store.createSchedule(spec), spec.id);
}

/** A new version from now on; what was planned after now is withdrawn. @throws ScheduleRefused */
export async function updateSchedule(
  ports: ControlPorts,
  registry: Registry,
  input: ScheduleInput,
  options: ScheduleChangeOptions & { readonly stage: string },
): Promise<ScheduleRow> {
  const spec = specOfInput(registry, input, options.stage);
  if (registry.schedules.has(spec.id)) throw inCode(spec.id);
  await installSlots(ports, registry, spec);
  return granted(await ports.store.updateSchedule(spec, versionsOf(options)), spec.id);
}

/** Takes effect at the claim, so it also stops dispatched jobs. Works for schedules of code too, and outlives deploys. Null resumes it. */
export async function pauseSchedule(ports: ControlPorts, id: string, pause: NewPause | null): Promise<ScheduleRow> {
  return granted(await ports.store.pauseSchedule(id, pause), id);
}

/**
 * Nothing of it starts any more, and passes cancel its jobs that wait; its ledger stays. A schedule of code is deleted by a deploy without it, unless its whole app
 * was removed: then only this call deletes it. @throws ScheduleRefused for one that code defines.
 */
export async function deleteSchedule(
  ports: ControlPorts,
  registry: Registry,
  id: string,
  options: ScheduleChangeOptions = {},
): Promise<{ readonly waiting: number }> {
  if (registry.schedules.has(id)) throw inCode(id);
  return granted(await ports.store.deleteSchedule(id, { ofCode: true, ...versionsOf(options) }), id);
}

/**
 * One job now, with the schedule's payload and overlap rule. It is no nominal time, so it gets no row in the ledger, and it
 * runs even if the schedule is paused. `key` makes a repeated call harmless.
 */
export async function triggerSchedule(
  ports: ControlPorts,
  registry: Registry,
  id: string,
  options: { readonly key?: string | undefined } = {},
): Promise<{ readonly id: JobId; readonly created: boolean }> {
  const facts = await ports.store.scheduleFacts(id);
  if (facts === null || facts.row === null) throw unknownSchedule(id);
  const { row, now } = facts;
  const definition = definitionOfKind(registry, row.spec.job.kind);
  const localTime = secondText(now + openZone(row.spec.timezone).offsetAt(now));
  const time = { localTime, fold: 0, instant: now, kind: "fires", mergedInto: null } as const;
  const decision = { time, outcome: "PLANNED", reason: null, isCatchUp: false, missedCount: 0, dueAt: null } as const;
  const trace = ports.random.id();
  const how = { registry, trace, seals: ports.seals };
  const { occurrence, failure } = await plannedRow(row, decision, definition, how);
  if (occurrence.job === null) {
    throw new ScheduleRefused("invalid-schedule", `schedule "${id}" gives no payload now: ${failure?.message ?? ""}`);
  }
  await installSlots(ports, registry, row.spec);
  const payload = readsMoment(definition) ? momentPayload(occurrenceOf(row, decision)) : occurrence.job.payload;
  const job = { ...occurrence.job, payload, key: options.key ?? null };
  const { results, aftermath } = await ports.store.insert([job]);
  await afterCommit(ports, aftermath);
  const [result] = results;
  if (result === undefined) throw new Error(`triggering "${id}" gave no answer`);
  return { id: result.id, created: result.created };
}

function specOfInput(registry: Registry, input: ScheduleInput, stage: string): ScheduleSpec {
  const definition = definitionOfKind(registry, input.kind);
  const problems = new ProblemList(`schedule "${input.id}"`);
  checkId(problems, "id", input.id);
  const payload = fixedPayload(input.payload, definition, problems);
  const { specFor } = specMaker(input as unknown as PlainOptions, definition, payload, problems);
  if (problems.found.length > 0) {
    const found = problems.found.map(withoutPayload);
    throw new ScheduleRefused("invalid-schedule", found.map(describe).join("\n"), found);
  }
  const app = registry.apps.find((each) => each.jobs.includes(definition));
  return specFor(stage, app?.name ?? "api");
}

/** It may be the stored one, which who asks for a change of something else may not see. */
const withoutPayload = (problem: Problem): Problem =>
  /^(payload|key)\b/.test(problem.field) ? { ...problem, value: "(value)" } : problem;

/** Before its jobs, which may name only existing groups. */
async function installSlots(ports: ControlPorts, registry: Registry, spec: ScheduleSpec): Promise<void> {
  const definition = definitionOfKind(registry, spec.job.kind);
  await ports.store.installSlots(definition.slotGroups, { onlyNew: true });
  await ports.store.installSlots(slotGroupsOfSchedule(spec));
}

const versionsOf = ({ ifVersions }: ScheduleChangeOptions): ScheduleChangeOptions =>
  ifVersions === undefined ? {} : { ifVersions };

function granted<T extends object>(answer: T | ScheduleRefusal, id: string): T {
  if (!("refused" in answer)) return answer;
  if (answer.refused === "code") throw inCode(id);
  if (answer.refused === "unknown") throw unknownSchedule(id);
  if (answer.refused === "version") {
    const message = `schedule "${id}" is at version ${answer.version}, not at the one that the change was made for: read it again`;
    throw new ScheduleRefused("version-changed", message, [], answer.version);
  }
  throw new ScheduleRefused(
    "schedule-exists",
    `schedule "${id}" exists already: choose another id, or npx belfry schedules update ${id}`,
  );
}

const inCode = (id: string): ScheduleRefused =>
  new ScheduleRefused(
    "schedule-in-code",
    `schedule "${id}" is defined in code, and code wins for its own: change it there and deploy; pause and resume work here too`,
  );

import { z } from "zod";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { Live, LiveCount, LivePart, SlotUse } from "../../core/ports/overview.ts";
import { slotGroupsOf } from "../../core/define/new-job.ts";
import { afterCommit } from "../../core/delivery/after-commit.ts";
import { noAftermath } from "../../core/ports/aftermath.ts";
import { relay } from "../../core/delivery/relay.ts";
import { closest } from "../closest.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { inBackground } from "../in-background.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { text } from "../query-fields.ts";
import { workersSeen } from "../workers-seen.ts";
import type { Bounds } from "../scope.ts";
import { laneList, lanePause, type LaneReply, type SlotUseReply } from "../shape/overview.ts";
import { count, maybeIso } from "../shape/shape.ts";
import { pauseAsked, pauseBody } from "../pause-query.ts";
import { pauseJson } from "../shape/pause.ts";
import type { Pause } from "../../core/ports/pause.ts";

const lanePath = z.object({ name: text(contractLimits.laneCharactersMax) });

/** GET /lanes, POST /lanes/:name/{pause,resume}. */
export function laneEndpoints(options: ApiOptions): readonly Endpoint[] {
  return [
    endpoint("GET /lanes", {
      name: "listLanes",
      summary: "What waits and runs in each lane, the caps that are in use, and who works",
      scope: "list",
      replies: { 200: laneList },
      handle: async ({ within }) => ({ status: 200, body: await list(options, within) }),
    }),
    endpoint("POST /lanes/:name/pause", {
      name: "pauseLane",
      refuses: ["unknown-lane", "invalid-time"],
      summary: "Start no job of this lane until it is resumed or to an end; what runs goes on",
      scope: ({ params }) => ({ lane: params.name }),
      params: lanePath,
      body: pauseBody,
      replies: { 200: lanePause },
      async handle({ params: { name }, body, caller }) {
        await assertKnown(options, name);
        await options.operations.pauseLane(name, pauseAsked(body, caller.name, await options.ports.store.now()));
        return { status: 200, body: { name, ...pauseJson(await pauseOf(options, name)), released: 0 } };
      },
    }),
    endpoint("POST /lanes/:name/resume", {
      name: "resumeLane",
      refuses: ["unknown-lane"],
      summary: "Start jobs of this lane again, also those that arrived during the pause",
      scope: ({ params }) => ({ lane: params.name }),
      params: lanePath,
      replies: { 200: lanePause, 202: lanePause },
      async handle({ params: { name } }) {
        await assertKnown(options, name);
        await options.operations.pauseLane(name, null);
        const released = await release(options, name, 1);
        const body = { name, released, ...pauseJson(null) };
        if (released < operationsLimits.unholdRowsMax) return { status: 200, body };
        inBackground(options.ports.log, "the resume of a lane", () =>
          release(options, name, operationsLimits.unholdRoundsMax),
        );
        return { status: 202, body, location: "/lanes" };
      },
    }),
  ];
}

const pauseOf = async ({ operations }: ApiOptions, name: string): Promise<Pause | null> =>
  (await operations.lanePauses()).find(({ lane }) => lane === name)?.pause ?? null;

/** PUT /caps/:kind. */
export function capEndpoint({ ports, registry }: ApiOptions): Endpoint {
  return endpoint("PUT /caps/:kind", {
    name: "setCap",
    refuses: ["no-cap"],
    summary: "How many jobs of a kind run at once, until the next release brings its own number",
    scope: ({ params }) => ({ kinds: [params.kind] }),
    params: z.object({ kind: text(contractLimits.idCharactersMax) }),
    body: z.strictObject({ size: z.int().min(1).max(contractLimits.slotsMax) }),
    replies: { 200: z.object({ kind: z.string(), size: count, code: count }).meta({ id: "Cap" }) },
    async handle({ params: { kind }, body: { size } }) {
      const definition = registry.jobs.get(kind);
      const group = definition && slotGroupsOf(definition).find(({ onRefusal }) => onRefusal === "hold");
      if (group === undefined) {
        const capped = [...registry.jobs.values()].filter((job) => job.concurrency !== null).map((job) => job.id);
        const detail = `${JSON.stringify(kind)} has no cap: ${capped.join(", ") || "no job"} has; give the definition a concurrency`;
        throw new HttpProblem("no-cap", detail, { extra: { near: closest(kind, capped) } });
      }
      await ports.store.installSlots([{ ...group, size }]);
      await afterCommit(ports, { ...noAftermath, freed: [group.key] });
      return { status: 200, body: { kind, size, code: group.size } };
    },
  });
}

const capPrefix = "cap:";

async function assertKnown({ lanes, operations }: ApiOptions, name: string): Promise<void> {
  if (lanes.some((lane) => lane.name === name)) return;
  const pauses = await operations.lanePauses();
  if (pauses.some((pause) => pause.lane === name)) return;
  const names = lanes.map((lane) => lane.name);
  const near = closest(name, names);
  throw new HttpProblem("unknown-lane", `there is no lane ${JSON.stringify(name)}: there are ${names.join(", ")}`, {
    extra: { near },
  });
}

/** What is put on hold a moment later, the upkeep releases. @returns how many jobs. */
async function release({ operations, ports }: ApiOptions, lane: string, roundsMax: number): Promise<number> {
  let released = 0;
  for (let round = 0; round < roundsMax; round += 1) {
    const some = await operations.unholdPaused(lane, operationsLimits.unholdRowsMax);
    released += some;
    if (some < operationsLimits.unholdRowsMax) break;
  }
  await relay(ports, { lane });
  return released;
}

async function list(options: ApiOptions, within: Bounds | null) {
  const { operations, lanes, ports } = options;
  const now = await ports.store.now();
  const [live, pauses, caps, workers] = await Promise.all([
    operations.live(operationsLimits.liveRowsMax),
    operations.lanePauses(),
    operations.slots(capPrefix),
    workersSeen(options, now, within),
  ]);
  const byName = new Map(lanes.map((lane) => [lane.name, lane]));
  const pausedLanes = new Map(pauses.map(({ lane, pause }) => [lane, pause]));
  const counts = Map.groupBy(live.counts, (each) => each.lane);
  const names = [...new Set([...byName.keys(), ...counts.keys(), ...pausedLanes.keys()])].toSorted();
  return {
    isMore: live.cut.length > 0,
    workers,
    caps: caps.filter(({ key }) => within === null || within.kinds.has(key.slice(capPrefix.length))).map(slotUseJson),
    lanes: names
      .filter((name) => within === null || within.hasLane(name))
      .map((name): LaneReply => {
        const settings = byName.get(name);
        return {
          name,
          ...pauseJson(pausedLanes.get(name) ?? null),
          ...depthOf(live, counts.get(name) ?? []),
          concurrency: settings?.concurrency ?? null,
          batchSize: settings?.batchSize ?? null,
          atLeast: [
            ...new Set(live.cut.filter((cut) => (cut.lane ?? name) === name).flatMap(({ part }) => cutFigures[part])),
          ],
        };
      }),
  };
}

export const slotUseJson = ({ holders, ...use }: SlotUse): SlotUseReply => ({
  ...use,
  holders: holders.map(({ jobId, kind, since }) => ({ job: jobId, kind, since: maybeIso(since) })),
});

/** What is more than it says when a part was not counted to its end. */
const cutFigures: Readonly<Record<LivePart, readonly LaneReply["atLeast"][number][]>> = {
  out: ["waiting", "running", "scheduled"],
  due: ["retrying", "scheduled"],
  paused: ["held"],
  slot: ["held"],
  blocked: ["held"],
};

/** How the live jobs of a lane, or of all, stand. */
export function depthOf({ now }: Pick<Live, "now">, counts: readonly LiveCount[]) {
  const free = counts.filter(({ hold, blocked }) => hold === "none" && !blocked);
  const startable = free.filter(({ state }) => state !== "RUNNING");
  const due = startable.filter((each) => each.due > 0);
  const oldest = Math.min(...due.map((each) => each.oldestDueAt));
  return {
    waiting: sum(startable, (each) => each.due),
    running: sum(counts, ({ state, jobs }) => (state === "RUNNING" ? jobs : 0)),
    retrying: sum(counts, ({ state, jobs }) => (state === "RETRY_WAIT" ? jobs : 0)),
    scheduled: sum(startable, (each) => each.jobs - each.due),
    held: {
      slot: sum(counts, ({ hold, jobs }) => (hold === "slot" ? jobs : 0)),
      paused: sum(counts, ({ hold, jobs }) => (hold === "paused" ? jobs : 0)),
      predecessors: sum(counts, ({ blocked, jobs }) => (blocked ? jobs : 0)),
    },
    oldestWaitingMs: due.length === 0 ? null : Math.max(0, now - oldest),
  };
}

const sum = (counts: readonly LiveCount[], of: (each: LiveCount) => number): number =>
  counts.reduce((total, each) => total + of(each), 0);

import { z } from "zod";
import { contractLimits } from "../../machine/contract-limits.ts";
import { closableText, kindName, kindOf } from "../../machine/closable-texts.ts";
import { insightLimits } from "../../insight/insight-limits.ts";
import { relay } from "../../run/relay.ts";
import { closest } from "../closest.ts";
import { endpoint } from "../endpoint.ts";
import { inBackground } from "../in-time.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { text } from "../query-fields.ts";
import type { Bounds } from "../scope.ts";
import { laneList, lanePause, type LaneReply, lockList, type LockReply } from "../shape/overview.ts";
import { readLanes } from "../../insight/lanes.ts";
import { depthOf, type LivePart, readLive } from "../../insight/live.ts";
import { readSlots } from "../../insight/slots.ts";
import { readWorkers } from "../../insight/workers.ts";
import { pauseFrom, pauseBody } from "../pause-query.ts";
import { pauseJson } from "../view.ts";
import { schedulerLock } from "../../schedule/pass.ts";
import { type FenceReply, readFences } from "../../insight/locks.ts";

const lanePath = z.object({ name: text(kindName("").length + contractLimits.idCharactersMax) });

export function laneEndpoints(options: ApiOptions) {
  return [
    endpoint("GET /lanes", {
      name: "listLanes",
      summary: "What waits and runs in each lane, the caps and rates that are in use, and who works",
      description:
        "What waits, runs and is held in each lane, the caps and rates in use, and the workers of the last hour. A kind with blackouts or a pause of its own stands among the lanes as `kind:NAME`, without figures: its jobs count in their lanes.",
      scope: "list",
      replies: { 200: laneList },
      reply: ({ within }) => list(options, within),
    }),
    endpoint("POST /lanes/:name/pause", {
      name: "pauseLane",
      refuses: ["unknown-lane", "invalid-time"],
      summary: "Start no job of this lane until it is resumed or to an end; what runs goes on",
      description:
        "No worker starts a job of it within a second. Jobs that run go on. The name `kind:` and a kind is that kind in all lanes. With `until` the pause ends by itself: the jobs on hold start within a minute. The same pause again changes nothing.",
      example: {
        params: { name: "default" },
        body: { until: "6:00", timezone: "Asia/Seoul", reason: "the provider is away" },
      },
      scope: ({ params }) => ({ lane: params.name }),
      params: lanePath,
      body: pauseBody,
      replies: { 200: lanePause },
      async reply({ params: { name }, body, caller }) {
        await assertKnown(options, name);
        await options.ports.store.pauseLane(name, pauseFrom(body, caller.name, await options.ports.store.now()));
        return { name, ...(await pauseOf(options, name)), released: 0 };
      },
    }),
    endpoint("POST /lanes/:name/resume", {
      name: "resumeLane",
      refuses: ["unknown-lane"],
      summary: "Start jobs of this lane again, also those that arrived during the pause or the blackout",
      description:
        "Also ends the blackout that the lane is in, and releases the jobs that arrived in between. Of more than 1,000 the rest is released after the answer, which is a 202 then: `held.paused` of `listLanes` says how many are left.",
      example: { params: { name: "default" } },
      scope: ({ params }) => ({ lane: params.name }),
      params: lanePath,
      replies: { 200: lanePause, 202: lanePause },
      async handle({ params: { name } }) {
        await assertKnown(options, name);
        await options.ports.store.pauseLane(name, null);
        const released = await release(options, name, 1);
        const body = { name, released, ...pauseJson(null) };
        if (released < insightLimits.unholdRowsMax) return { status: 200, body };
        inBackground(options.ports.log, "the resume of a lane", () =>
          release(options, name, insightLimits.unholdRoundsMax),
        );
        return { status: 202, body, location: "/lanes" };
      },
    }),
  ];
}

async function pauseOf({ insight }: ApiOptions, name: string) {
  const lane = (await insight.run(readLanes, {})).find((each) => each.name === name);
  const { blackoutUntil: _until, nextBlackoutAt: _next, ...paused } = { ...pauseJson(null), ...lane };
  return paused;
}

async function assertKnown({ lanes, insight, registry }: ApiOptions, name: string): Promise<void> {
  if (lanes.some((lane) => lane.name === name) || registry.jobs.has(kindOf(name) ?? "")) return;
  if ((await insight.run(readLanes, {})).some((lane) => lane.name === name)) return;
  const isOfKind = kindOf(name) !== null;
  const names = isOfKind ? [...registry.jobs.keys()].map(kindName) : lanes.map((lane) => lane.name);
  const near = closest(name, names);
  const there = isOfKind ? near.join(", ") || "none is like it" : `there are ${names.join(", ")}`;
  throw new HttpProblem("unknown-lane", `there is no ${closableText(name)}: ${there}`, { extra: { near } });
}

/** What is put on hold a moment later, the upkeep releases. @returns how many jobs. */
async function release({ ports }: ApiOptions, lane: string, roundsMax: number): Promise<number> {
  let released = 0;
  for (let round = 0; round < roundsMax; round += 1) {
    const some = await ports.store.unholdPaused(lane, insightLimits.unholdRowsMax);
    released += some;
    if (some < insightLimits.unholdRowsMax) break;
  }
  await relay(ports, kindOf(lane) === null ? { lane } : {});
  return released;
}

async function list({ insight, lanes }: ApiOptions, within: Bounds) {
  const [live, pauses, caps, rates, workers] = await Promise.all([
    readLive(insight),
    insight.run(readLanes, {}),
    insight.run(readSlots, "cap:"),
    insight.run(readSlots, "rate:"),
    insight.run(readWorkers, insightLimits.workerSeenMs),
  ]);
  const byName = new Map(lanes.map((lane) => [lane.name, lane]));
  const pausedLanes = new Map(pauses.map((lane) => [lane.name, lane]));
  const counts = Map.groupBy(live.counts, (each) => each.lane);
  const names = [...new Set([...byName.keys(), ...counts.keys(), ...pausedLanes.keys()])].toSorted();
  return {
    isMore: live.cut.length > 0,
    workers: workers.filter(({ lane }) => within.isWhole || (lane !== null && within.hasLane(lane))),
    caps: [...caps, ...rates].filter(({ key }) => within.hasKind(key.replace(/^[^:]*:|#.*$/gs, ""))),
    lanes: names
      .filter((name) => within.hasLane(name))
      .map((name): LaneReply => {
        const settings = byName.get(name);
        return {
          name,
          ...pauseJson(null),
          blackoutUntil: null,
          nextBlackoutAt: null,
          ...pausedLanes.get(name),
          ...depthOf(counts.get(name) ?? []),
          concurrency: settings?.concurrency ?? null,
          batchSize: settings?.batchSize ?? null,
          atLeast: [
            ...new Set(live.cut.filter((cut) => (cut.lane ?? name) === name).flatMap(({ part }) => cutFigures[part])),
          ],
        };
      }),
  };
}

/** What is more than it says when a part was not counted to its end. */
const cutFigures: Readonly<Record<LivePart, readonly LaneReply["atLeast"][number][]>> = {
  out: ["waiting", "running", "scheduled"],
  due: ["retrying", "scheduled"],
  paused: ["held"],
  slot: ["held"],
  blocked: ["held"],
};

export const lockEndpoint = (options: ApiOptions) =>
  endpoint("GET /locks", {
    name: "listLocks",
    summary: "Who holds which lock, under which fence",
    scope: "everything",
    replies: { 200: lockList },
    async reply() {
      const { insight } = options;
      const [fences, jobLocks] = await Promise.all([insight.run(readFences, {}), insight.run(readSlots, "lock:")]);
      const byName = new Map([noFence, ...fences].map((fence) => [fence.name, fence]));
      return { locks: await Promise.all([...byName.values()].map((fence) => lockJson(options, fence))), jobLocks };
    },
  });

const noFence: FenceReply = { name: schedulerLock, fence: null, installedAt: null, fallback: null };

/** The lock store may be away: then what Postgres knows is shown. */
async function lockJson({ locks, ports }: ApiOptions, fence: FenceReply): Promise<LockReply> {
  try {
    const item = await locks.read(fence.name);
    return {
      ...fence,
      holder: item?.owner ?? null,
      fence: item?.fence ?? fence.fence,
      leaseMs: item?.leaseMs ?? null,
      isStoreUp: true,
    };
  } catch (error) {
    ports.log.warn("the lock store does not answer", { lock: fence.name, error });
    return { ...fence, holder: null, leaseMs: null, isStoreUp: false };
  }
}

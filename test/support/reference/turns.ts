import type { NewJob } from "../../../src/machine/job.ts";
import type { OutboxBatch } from "../../../src/machine/outbox.ts";
import type { TurnLane } from "../../../src/machine/turn.ts";
import type { TurnStore } from "../../../src/machine/turn-store.ts";
import { isClosed } from "./lanes.ts";
import type { JobRow, TurnLaneRow } from "./rows.ts";
import type { Tables, Why } from "./tables.ts";

/** Where a job waits that takes turns, and any other. */
export const waitsAgain = ({ turn }: Pick<NewJob, "turn">): Pick<JobRow, "hold" | "heldOn"> =>
  turn === undefined ? { hold: "none", heldOn: null } : { hold: "slot", heldOn: turn.heldOn };

/** QUEUED, or where it waits for its turn. */
export function runAgain(t: Tables, row: JobRow, columns: Partial<JobRow>, why: Why): JobRow {
  if (row.turn === undefined) return t.queue(row, columns, why);
  const waits = { state: "PENDING", generation: row.generation + 1, handedAt: null } as const;
  return t.move(row, { ...columns, ...waitsAgain(row), ...waits }, why);
}

export function installTurns(t: Tables, lanes: readonly TurnLane[]): void {
  for (const lane of lanes) t.turnLanes.set(lane.lane, { pass: 0, ...t.turnLanes.get(lane.lane), ...lane });
}

export function takeTurns(t: Tables, { of, limit }: Parameters<TurnStore["takeTurns"]>[0]): OutboxBatch[] {
  const keys = of === "all" ? waiting(t).map(({ heldOn }) => heldOn ?? "") : of.keys;
  for (const heldOn of new Set(keys)) mark(t, heldOn);
  const marked = of === "all" ? [] : of.keys.map((heldOn) => partsOf(heldOn).lane);
  return [...t.turnLanes.entries()]
    .map(([, lane]) => lane)
    .toSorted((a, b) => (a.lane < b.lane ? -1 : 1))
    .filter(({ lane }) => (of === "all" || of.lanes.includes(lane) || marked.includes(lane)) && !isClosed(t, lane))
    .flatMap((lane) => {
      const room = lane.ahead - t.inStates("QUEUED", "RUNNING").filter((row) => row.lane === lane.lane).length;
      const isEnd = of !== "all" && !marked.includes(lane.lane);
      const least = isEnd ? Math.max(1, Math.floor((lane.ahead - lane.places) / 2)) : 1;
      return room < least ? [] : t.dispatch(nextOf(t, lane, Math.min(room, limit)).map((row) => t.queue(row)));
    });
}

const waiting = (t: Tables): readonly JobRow[] =>
  t
    .inStates("PENDING", "RETRY_WAIT")
    .filter((row) => row.heldOn?.startsWith("turn:") === true && !row.blocked && row.dueAt <= t.now());

function partsOf(heldOn: string): { readonly lane: string; readonly level: number; readonly key: string } {
  const [, lane = "", level, key = ""] = /^turn:([^#]*)#(-?\d)#(.*)$/s.exec(heldOn) ?? [];
  return { lane, level: Number(level), key };
}

function mark(t: Tables, heldOn: string): void {
  const { lane, key } = partsOf(heldOn);
  const known = t.turns.get(`${lane}#${key}`);
  const from = t.turnLanes.get(lane)?.pass ?? 0;
  const pass = known === undefined ? from : known.waits ? known.pass : Math.max(known.pass, from);
  t.turns.set(`${lane}#${key}`, { lane, key, pass, waits: true });
}

/** One at a time: the key whose next job has the lowest tag. */
function nextOf(t: Tables, lane: TurnLaneRow, most: number): readonly JobRow[] {
  const rankOf = (row: JobRow): number => row.dueAt + partsOf(row.heldOn ?? "").level * lane.agingMs;
  const byKey = Map.groupBy(
    waiting(t)
      .filter((row) => row.lane === lane.lane)
      .toSorted((a, b) => rankOf(a) - rankOf(b) || a.id - b.id),
    (row) => partsOf(row.heldOn ?? "").key,
  );
  const sharing = [...t.turns.values()]
    .filter((turn) => turn.lane === lane.lane && turn.waits)
    .toSorted((a, b) => a.pass - b.pass || (a.key < b.key ? -1 : 1))
    .slice(0, most);
  const offered = sharing.flatMap((turn) => {
    let tag = turn.pass;
    const rows = byKey.get(turn.key) ?? [];
    if (rows.length === 0) t.turns.set(`${lane.lane}#${turn.key}`, { ...turn, waits: false });
    return rows.map((row) => ({ turn, row, tag: (tag += 1 / (row.turn?.weight ?? 1)) }));
  });
  const chosen = offered
    .toSorted((a, b) => a.tag - b.tag || rankOf(a.row) - rankOf(b.row) || a.row.id - b.row.id)
    .slice(0, most);
  for (const { turn, tag } of chosen) t.turns.set(`${lane.lane}#${turn.key}`, { ...turn, pass: tag });
  const [first] = chosen;
  if (first !== undefined) t.turnLanes.set(lane.lane, { ...lane, pass: Math.max(lane.pass, first.tag) });
  return chosen.map(({ row }) => row);
}

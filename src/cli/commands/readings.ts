/** Commands of one word that show what the API answers. */
import type { KindReply } from "../../api/routes/kinds.ts";
import type { HealthReply } from "../../api/shape/schedule.ts";
import type { LockListReply } from "../../api/shape/overview.ts";
import { costTable } from "../../insight/cost-table.ts";
import type { WorkerReply } from "../../insight/workers.ts";
import { printable, shownCsv } from "../output.ts";
import { type Columns, readCommand, tableOf } from "../read-command.ts";

export const locksCommand = readCommand("listLocks", (out) => {
  const columns: Columns<readonly [name: string, holder: string, fence: string]> = {
    LOCK: ([name]) => name,
    HOLDER: ([, holder]) => holder,
    FENCE: ([, , fence]) => fence,
  };
  return {
    name: "locks",
    example: "locks",
    text: (found) => tableOf(out, columns, lockRows(found)),
  };
});

const lockRows = ({ locks, jobLocks }: LockListReply) => [
  ...locks.map(({ name, isStoreUp, holder, fence }) => {
    const shown = isStoreUp ? (holder ?? "(free)") : "(the lock store does not answer)";
    return [name, shown, fence === null ? "" : String(fence)] as const;
  }),
  ...jobLocks.map(
    ({ key, holders }) => [key, holders.map(({ job }) => `job ${job}`).join(", ") || "(free)", ""] as const,
  ),
];

export const workersCommand = readCommand("listLanes", (out) => {
  const columns: Columns<WorkerReply> = {
    WORKER: (worker) => worker.id,
    STATUS: (worker) => worker.status,
    SEEN: (worker) => out.time(worker.seenAt),
    LANE: (worker) => worker.lane,
    ATTEMPTS: ({ ended, failed, lost }) => `${ended} (${failed} failed, ${lost} lost)`,
    RUNNING: ({ running }) => running.map(runningText).join(", "),
    VERSION: (worker) => worker.version,
  };
  return {
    name: "workers",
    example: "workers --json",
    result: ({ workers }) => ({ workers }),
    text: ({ workers }) => (workers.length === 0 ? "no workers" : tableOf(out, columns, workers)),
  };
});

const runningText = ({ job, progress }: WorkerReply["running"][number]): string =>
  progress === null ? job : `${job} (${Math.round(progress * 100)} %)`;

export const archiveCommand = readCommand("getHealth", (out) => {
  const columns: Columns<HealthReply["archive"][number]> = {
    PART: ({ part }) => part,
    UNTIL: ({ until }) => out.time(until),
    ROWS: ({ rows }) => String(rows),
    OBJECTS: ({ objects }) => String(objects),
    BYTES: ({ bytes }) => String(bytes),
    FAILS: ({ failing }) => failing && `since ${out.time(failing.since)}: ${failing.error}`,
  };
  return {
    name: "archive",
    example: "archive --json",
    result: ({ archive }) => ({ archive }),
    text: ({ archive }) => (archive.length === 0 ? "nothing has left for an archive" : tableOf(out, columns, archive)),
  };
});

export const kindsCommand = readCommand("listKinds", (out) => {
  const columns: Columns<KindReply> = {
    KIND: ({ id }) => id,
    LANE: ({ lane }) => lane,
    RUN: ({ graph, makesRun }) => (graph === null ? (makesRun ? "starts a run" : "") : `task of ${graph}`),
    PAYLOAD: ({ payload }) => (payload === null ? "none" : membersOf(payload)),
    APP: ({ app }) => app,
  };
  return {
    name: "kinds",
    example: "kinds",
    text: ({ kinds }) => tableOf(out, columns, kinds),
  };
});

/** The members of an object, with a mark behind those that may be left out. */
function membersOf(schema: unknown): string {
  const { properties, required } = (schema ?? {}) as { properties?: object; required?: readonly string[] };
  if (properties === undefined) return "any";
  return Object.keys(properties)
    .map((name) => (required?.includes(name) === true ? name : `${name}?`))
    .join(", ");
}

export const explainCommand = readCommand("explainJob", () => ({
  name: "explain",
  example: "explain 42",
  args: { id: ["<id>"] },
  text: ({ sentence, waitsFor, advice }, { id }) =>
    [
      `job ${id}: ${sentence}`,
      ...(waitsFor.length === 0 ? [] : [`waits for: ${waitsFor.map((job) => `job ${job}`).join(", ")}`]),
      ...(advice === null ? [] : [advice]),
    ]
      .map(printable)
      .join("\n"),
}));

export const costsCommand = readCommand("getCosts", (out, world) => ({
  name: "costs",
  example: "costs --by key --from 2026-11-01 --to 2026-12-01 --csv",
  options: { "--csv": "for a spreadsheet, instead of the table" },
  text(answer, options) {
    const { head, rows } = costTable(answer);
    if (options["csv"] !== undefined) return shownCsv([head, rows], world.streams);
    const all = `${answer.from} up to ${answer.to}, as stage ${answer.stage} would cost: ${answer.total.usd.total.toFixed(2)} USD`;
    if (rows.length === 0) return `${all}; nothing has run`;
    return `${out.table(
      head.map((name) => name.toUpperCase().replace("_", " ")),
      rows,
    )}\n${all}`;
  },
  notes: ({ assumes, leftOut }) => [`an estimate: ${assumes.join("; ")}`, `left out: ${leftOut.join("; ")}`],
}));

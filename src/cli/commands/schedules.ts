import type { NextTimesReply, ScheduleDetailReply, ScheduleReply } from "../../api/shape/schedule.ts";
import type { ObjectiveListReply } from "../../api/routes/objectives.ts";
import type { OccurrenceListReply } from "../../api/shape/schedule-outcome.ts";
import type { Output } from "../output.ts";
import { formatDuration } from "../../calendar/duration.ts";
import { here, pausedText, scheduleTable } from "../schedule-table.ts";
import { type Columns, groupOf, readCommand, tableOf } from "../read-command.ts";
import { relativeTime, spanText, wallTimeIn } from "../times.ts";
import { backfillCommand, changing } from "./schedules-change.ts";
import { simulateCommand } from "./simulate.ts";
import type { UpcomingReply } from "../../api/shape/upcoming.ts";

const list = readCommand("listScheduleOutcomes", (out) => ({
  name: "list",
  about: "schedules with their next time and how the last one ended",
  example: "schedules list --state failing",
  without: ["include"],
  words: { text: "words, of which each is a part of the id, the kind or the app" },
  text: ({ schedules }) => scheduleTable(schedules, out),
  notes: ({ isMore }) => [isMore && "more may be failing: only the newest failures were looked at"],
}));

const show = readCommand("getSchedule", (out) => ({
  name: "show",
  about: "one schedule, and the versions it had",
  example: "schedules show outbox-retry",
  args: { id: ["<id>"] },
  text: (found, { id }) =>
    [
      found.deleted ? `${id} was deleted` : scheduleTable([found as ScheduleReply], out),
      "",
      tableOf(out, versionColumns, found.versions),
    ].join("\n"),
}));

const versionColumns: Columns<ScheduleDetailReply["versions"][number]> = {
  VERSION: ({ version }) => String(version),
  FROM: ({ from }) => from,
  WHEN: ({ expression, spec }) =>
    expression === null ? "deleted" : `${expression} ${spec?.timezone ?? ""}${lagText(spec)}`,
};

const lagText = (spec: ScheduleDetailReply["versions"][number]["spec"]): string =>
  spec?.spread === undefined
    ? ""
    : `, ${formatDuration(spec.spread.offsetMs)} later (spread over ${formatDuration(spec.spread.withinMs)})`;

const next = readCommand("nextTimes", (out) => ({
  name: "next",
  about: "the next times of a schedule, with what clock changes do to them",
  example: "schedules next daily-quiz-seoul --count 3",
  args: { id: ["<id>"] },
  text: ({ times, ended }) =>
    times.length === 0 && !ended ? "it follows another schedule, at its times" : timesText(times, out),
  notes: (answer) => [
    !answer.enabled && "it is off in this stage: none of them will run",
    answer.enabled && answer.paused && `it is ${pausedText(answer)}; until then they are SKIPPED`,
  ],
}));

type NextTime = NextTimesReply["times"][number];

const timesText = (times: readonly NextTime[], out: Output): string =>
  times.length === 0 ? "no more times: it has ended" : tableOf(out, timeColumns, times);

const clockOf = ({ localTime }: { readonly localTime: string }): string => localTime.replace("T", " ");
const timeColumns: Columns<NextTime> = {
  CLOCK: clockOf,
  AT: ({ at, effectiveAt }) => effectiveAt ?? at,
  FIRES: ({ fires }) => (fires ? "" : "no"),
  NOTE: ({ note }) => note,
};

const history = readCommand("listOccurrences", (out) => ({
  name: "history",
  about: "what became of its times, the newest first",
  example: "schedules history outbox-retry --limit 20",
  args: { id: ["<id>"] },
  text: ({ occurrences }) =>
    occurrences.length === 0 ? "nothing decided yet" : tableOf(out, occurrenceColumns, occurrences),
}));

const span = (ms: number | null | undefined): string => (ms == null ? "" : spanText(ms));
const occurrenceColumns: Columns<OccurrenceListReply["occurrences"][number]> = {
  CLOCK: clockOf,
  DECISION: ({ outcome }) => outcome,
  JOB: ({ jobId }) => jobId,
  // Of the run, if the job started one.
  STATE: ({ end }) => end?.run?.state ?? end?.state ?? "",
  LATE: ({ latenessMs }) => span(latenessMs),
  TOOK: ({ end }) => span(end?.tookMs),
  REASON: ({ reason, end }) => reason ?? end?.reason ?? "",
  ERROR: ({ end }) =>
    end?.error == null ? "" : [end.error.code, end.error.message].filter((part) => part !== null).join(": "),
};

const explain = readCommand("explainTime", () => ({
  name: "explain",
  about: "what became of one time, and why",
  example: "schedules explain outbox-retry 09:00",
  args: {
    id: ["<id>"],
    time: ["<time>", "09:00 for today, 2026-11-21T09:00 by the schedule's clock, or an instant with Z or its offset"],
  },
  text: ({ answers }) =>
    answers.map(({ sentence, advice }) => (advice === null ? sentence : `${sentence}\n  ${advice}`)).join("\n"),
}));

const preview = readCommand("previewExpression", (out) => ({
  name: "preview",
  about: "the next times of an expression that is no schedule yet",
  example: "schedules preview '30 2 * * *' --timezone America/New_York --count 3",
  args: { expression: ["<expression>", "five fields, cron(...), rate(...) or a duration like 5m"] },
  text: ({ times }) => timesText(times, out),
  notes: ({ notes }) => notes.map((note) => `note: ${note}`),
}));

export const upcomingCommand = readCommand("listUpcoming", (out) => ({
  name: "upcoming",
  about: "what all schedules will start, with what may keep it from running, and the load of each lane",
  example: "schedules upcoming --hours 24 --lane mail",
  words: { hours: "1 to 24 (default: 1)", app: "of this app only", lane: "of this lane only" },
  options: { "--timezone <zone>": "IANA name, whose clock is shown; default: this machine's" },
  text: (answer, { timezone = here() }) => upcomingText(answer, timezone, out),
  notes: ({ isMore }) => [isMore && "some schedules fire more often than is looked at: there are more times"],
}));

function upcomingText({ from, times, lanes }: UpcomingReply, zone: string, out: Output): string {
  if (times.length === 0) return "nothing is scheduled in this span";
  const timeColumns: Columns<UpcomingReply["times"][number]> = {
    [`AT (${zone})`]: ({ at }) => wallTimeIn(at, zone),
    ...(times.some(({ at, nominalAt }) => at !== nominalAt) && {
      NOMINAL: ({ nominalAt }) => wallTimeIn(nominalAt, zone),
    }),
    IN: ({ at }) => relativeTime(at, Date.parse(from)),
    SCHEDULE: ({ schedule }) => schedule,
    KIND: ({ kind }) => kind,
    LANE: ({ lane }) => lane,
    RISK: riskText,
  };
  const laneColumns: Columns<UpcomingReply["lanes"][number]> = {
    LANE: ({ lane }) => lane,
    TIMES: ({ times: count }) => String(count),
    "EXPECTED WORK": ({ expectedMs, unknown }) =>
      `${spanText(expectedMs)}${unknown === 0 ? "" : ` and ${unknown} of unknown length`}`,
    CAPACITY: ({ capacityMs }) => (capacityMs === null ? "" : spanText(capacityMs)),
    BUSIEST: ({ busiest }) => busiest && `${Math.round(busiest.share * 100)} % at ${wallTimeIn(busiest.at, zone)}`,
  };
  return [tableOf(out, timeColumns, times), "", tableOf(out, laneColumns, lanes)].join("\n");
}

const riskText = ({ paused, capped, mayOverlap }: UpcomingReply["times"][number]): string =>
  [
    paused && "paused: will be skipped",
    capped && "its cap may be full",
    mayOverlap && "the one before may not have ended",
  ]
    .filter((risk) => risk !== false)
    .join("; ");

const objectives = readCommand("listObjectives", (out) => ({
  name: "objectives",
  about: "what schedules promise of their times, and what is left of it",
  example: "schedules objectives",
  words: { schedule: "only this schedule" },
  text: ({ objectives: all }, { schedule }) =>
    all.length > 0
      ? tableOf(out, objectiveColumns, all)
      : schedule === undefined
        ? "no schedule that is on has an objective"
        : `${schedule} is no schedule that is on and has an objective`,
  notes: ({ isMore }) => [isMore && "there are more: name a schedule"],
}));

type Stand = ObjectiveListReply["objectives"][number];

const percent = (share: number): string => `${Number((share * 100).toPrecision(12))} %`;
const promised = ({ onTimeMs, endsWithinMs, share, overMs }: Stand): string =>
  `${percent(share)} ${[
    ...(onTimeMs === null ? [] : [`start within ${formatDuration(onTimeMs)}`]),
    ...(endsWithinMs === null ? [] : [`are done within ${formatDuration(endsWithinMs)}`]),
  ].join(" and ")}, over ${formatDuration(overMs)}`;

const objectiveColumns: Columns<Stand> = {
  SCHEDULE: ({ schedule }) => schedule,
  PROMISED: promised,
  TIMES: ({ times }) => String(times),
  MISSED: ({ missed }) => String(missed),
  LEFT: ({ left }) => (left < 0 ? `used up ${(1 - left).toFixed(1)}x` : percent(Number(left.toFixed(3)))),
  BURNS: ({ fast, slow }) =>
    [fast.burns && `fast, ${fast.rate.toFixed(1)}x`, slow.burns && `slow, ${slow.rate.toFixed(1)}x`]
      .filter((part) => part !== false)
      .join("; "),
};

export const schedulesCommand = groupOf("schedules", [
  list,
  show,
  next,
  history,
  explain,
  preview,
  ...changing,
  backfillCommand,
  upcomingCommand,
  simulateCommand,
  objectives,
]);

import type { ScheduleOutcomeReply } from "../../../api/shape/schedule-outcome.ts";
import { numberText, percentText } from "../number.ts";
import type { Part, Sentence } from "../part.ts";
import { plural } from "./shared.ts";

type Objective = NonNullable<NonNullable<ScheduleOutcomeReply["times"]>["objective"]>;

/** What a clock change does to one of the next times. */
type ClockChange = NonNullable<NonNullable<ScheduleOutcomeReply["times"]>["next"][number]["change"]>;

function clockChange({ what, clock, from, to, into }: ClockChange): string {
  if (what === "first" || what === "second") return `the clock shows ${clock} twice: ${what} time`;
  if (what === "before") return `the clock jumps from ${from} to ${to} before it`;
  const ends = {
    skipped: "does not run",
    merged: `runs with that of ${into?.replace("T", " ") ?? ""}`,
    moved: `runs at ${into ?? ""}`,
  };
  return `the clock skips ${clock} (it jumps from ${from} to ${to}): ${ends[what]}`;
}

const ofPlaces = (places: number): string => (places === Infinity ? "" : ` of ${numberText(places)}`);

export const enSchedules = {
  schedules: {
    filter: "Filter schedules",
    placeholder: "Search, or filter: state:failing kind:… zone:Asia/Seoul late:>5s",
    noneYet: "No schedules yet",
    howToAdd: (define: Part, file: Part): Sentence => [
      "Add ",
      define,
      " to ",
      file,
      " and save. It appears here at once.",
    ],
    fields: {
      state: "active, failing, late, paused, off, ended",
      kind: "the kind it starts",
      app: "the app it belongs to",
      zone: "its time zone: Asia/Seoul",
      late: "its last start was later than that: late:>5s",
    },
    columns: { next: "Next", last: "Last 30" },
    runNowOf: (id: string) => `Run now: ${id}`,
    states: {
      off: "Off in this stage",
      paused: "Paused",
      late: "Late",
      failing: "Failing",
      ended: "Ended",
      active: "Active",
    },
    since: (at: Part): Sentence => ["since ", at],
    sinceBefore: (at: Part): Sentence => ["since before ", at],
    noSuccess: "no success yet",
    lastSuccess: (at: Part): Sentence => ["last success ", at],
    pauseKey: "Pause or resume",
    inZone: (zone: string) => `in ${zone}`,
    starts: (kind: Part): Sentence => [" starts ", kind],
    version: (version: number, source: string) => `version ${version}, from ${source}`,
    overlap: {
      allow: "runs may overlap",
      skip: "skipped while the one before runs",
      "queue-one": "one waits while the one before runs",
      "queue-all": "each waits while the one before runs",
      "cancel-running": "the one before is canceled, and the latest starts once it has stopped",
    } as Readonly<Record<string, string>>,
    misfire: {
      skip: "missed times are skipped",
      latest: "of missed times the latest runs",
      all: "missed times all run",
    } as Readonly<Record<string, string>>,
    objective: (of: Objective, durationText: (ms: number) => string) => {
      const starts = of.onTimeMs === null ? [] : [`start within ${durationText(of.onTimeMs)}`];
      const ends = of.endsWithinMs === null ? [] : [`are done within ${durationText(of.endsWithinMs)}`];
      const promise = `${percentText(of.share)} ${[...starts, ...ends].join(" and ")}, over ${durationText(of.overMs)}`;
      const left = `${percentText(Math.max(0, of.left))} of what may miss is left`;
      return `Objective: ${promise}. ${numberText(of.missed)} of ${numberText(of.times)} missed: ${left}.`;
    },
    onTimeOf: (share: string) => `${share} on time`,
    onTime: (share: string, lateness: string) => ` · ${share} on time · lateness ${lateness}`,
    occurrences: "Occurrences",
    last30: "Last 30 occurrences",
    plannedAhead: (count: number) => `${numberText(count)} of them planned ahead`,
    pauseText: "Until it is resumed, its times are skipped, with the reason “paused”.",
    pause: "Pause the schedule",
    startedOnce: (id: string) => `${id} was started once`,
    saved: (id: string) => `${id} is saved`,
    create: "New schedule",
    edit: "Edit",
    remove: "Delete",
    removeQuestion: (id: string) => `Delete ${id}?`,
    removeText: "It fires no more. What became of its past times stays.",
    removed: (id: string) => `${id} is deleted`,
    form: {
      edit: (id: string) => `Edit ${id}`,
      save: "Save the schedule",
      id: "Id",
      forms: { cron: "Cron", every: "Every", at: "Once" },
      hints: { cron: "minute hour day month weekday", every: "90s, 15m, 2h", at: "2026-12-24T18:00:00+09:00" },
      zone: "Time zone",
      overlap: "While the one before runs",
      misfire: "Missed times",
    },
    after: (id: string, within: string) => `After ${id}, if it is done within ${within}`,
    every: (value: number, unit: string) => {
      const name = { ms: "millisecond", s: "second", m: "minute", h: "hour", d: "day" }[unit] ?? unit;
      return value === 1 ? `Every ${name}` : `Every ${plural(value, name)}`;
    },
    /** The library leaves out the day where it is any day. */
    everyDay: (text: string) => (text.startsWith("At ") ? `Every day at ${text.slice(3)}` : text),
  },
  occurrences: {
    clockChange,
    decisions: {
      PLANNED: "Planned",
      FIRED: "Fired",
      CAUGHT_UP: "Caught up",
      COALESCED: "Coalesced",
      SKIPPED: "Skipped",
    },
    ends: {
      succeeded: "succeeded",
      failed: "failed",
      stopped: "canceled or skipped",
      open: "not ended yet",
      unknown: "its job is no longer kept",
    },
    none: "No times yet",
    last: (count: number, ends: string) => `Last ${count}: ${ends}`,
    count: (count: number, word: string) => `${count} ${word}`,
    columns: { for: "For", decision: "Decision", job: "Job" },
    noneCame: "No time has come yet. What becomes of each one is listed here.",
    past: "Past times",
    next: "Next times",
    excluded: (calendar: string, movedTo: string | null) =>
      `${calendar}: ${movedTo === null ? "does not run" : `moved to ${movedTo.replace("T", " ")}`}`,
    pausedSkipped: "paused: they will be skipped",
    hasEnded: "It has ended",
    in: (zone: string) => `In ${zone}`,
    inYours: (zone: string) => `In your zone, ${zone}`,
    fromNow: "From now",
  },
  heat: {
    title: "Weeks of its times",
    day: "Day",
    nothing: "started nothing",
    late: (count: number, most: string) => `${numberText(count)} late, by ${most} at most`,
    how: "Each cell has the colour of its worst end, and a bar on top where one was late. Enter or a click lists its times.",
    isMore: "The newest 20,160 times, each cell in the colour of its worst end. Enter or a click lists its times.",
  },
  backfill: {
    title: "Backfill",
    about: "Runs the times of a range that have not run. The preview shows each and changes nothing.",
    inZone: (zone: string) => `times in ${zone}`,
    from: "From",
    to: "To",
    preview: "Preview",
    text: "They run one after the other, beside the times that come on their own.",
    action: (count: number) => `Backfill ${plural(count, "time")}`,
    refused: "The backfill was refused",
    planned: (count: number) => `${plural(count, "time")} planned`,
    willRun: (was: string) => `will run, was ${was}`,
    stays: (was: string) => `stays ${was}`,
    none: "No time of this schedule lies in this range",
  },
  whyTime: {
    title: "What became of a time",
    label: (zone: string) => `Why did it run, or not, at this time in ${zone}?`,
    ask: "Explain",
    unknown: "This time cannot be explained",
  },
  upcoming: {
    spans: { 1: "Next hour", 6: "6 hours", 24: "24 hours" },
    nothing: "Nothing is scheduled in this span",
    longer: "Choose a longer span, or look at the schedules.",
    timeLine: "Time line",
    times: (count: number, isMore: boolean) => `${plural(count, "time")}${isMore ? " or more" : ""}`,
    loadToCome: "Load to come",
    atOnce: (most: number, places: number) => `at most ${numberText(most)} at once${ofPlaces(places)}`,
    ofLane: (lane: string, jobs: number, places: number) => `${lane} ${numberText(jobs)}${ofPlaces(places)}`,
    how: "Jobs of this span that run or wait at once, beside what waits already; the line is what these lanes run. A click lists what starts then.",
    over: "More than a lane runs",
    fits: "What becomes due in this span is for no lane known to be more at once than it runs. What waits already is not counted.",
    pilesUp: (lane: string, over: number, places: number, wait: string) =>
      `${lane} runs ${numberText(places)} at once: ${numberText(over)} more wait, at most ${wait}, `,
    others: (count: number) => `${numberText(count)} other lanes`,
    all: "All times",
    notListed: "None of the 200 soonest times of schedules is here",
    columns: { in: "In", risk: "Risk", times: "Times", work: "Work", share: "Of its capacity" },
    paused: "Paused: will be skipped",
    spreadFrom: "spread from",
    mayOverlap: "The one before has not ended",
    capped: "The cap of its kind is full then",
    app: "App",
    allApps: "All apps",
    allLanes: "All lanes",
    due: "Jobs that wait for their time",
    dueAbout: "delayed, retried or written ahead: a lane that is down makes them late too",
    firstDue: "First due",
    lastDue: "Last due",
    load: "Expected work",
    unknown: (count: number) => `${numberText(count)} of unknown length`,
  },
};

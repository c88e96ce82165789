import { numberText, type Count } from "../number.ts";

const rules = new Intl.PluralRules("en");

const isOne = (value: Count): boolean =>
  typeof value === "number" ? rules.select(value) === "one" : value.count === 1 && !value.isMore;

/** `1 job`, `2 jobs`, `10,000+ jobs`. */
export const plural = (value: Count, one: string, many = `${one}s`): string =>
  `${numberText(value)} ${isOne(value) ? one : many}`;

const verbs = { retry: "Retry", cancel: "Cancel" };

const pasts = { retry: "retried", cancel: "canceled" };
type Verb = keyof typeof verbs;

export const enShared = {
  many: {
    job: (value: Count) => plural(value, "job"),
    task: (value: Count) => plural(value, "task"),
    time: (value: Count) => plural(value, "time"),
    moreTimes: (value: Count) => `and ${plural(value, "more time")}`,
    schedule: (value: Count) => plural(value, "schedule"),
    deadLetter: (value: Count) => plural(value, "dead letter"),
    cause: (value: Count) => plural(value, "more cause"),
    more: (value: Count) => `and ${numberText(value)} more`,
  },
  states: {
    PENDING: "Scheduled",
    QUEUED: "Waiting",
    RUNNING: "Running",
    RETRY_WAIT: "Retrying",
    SUCCESS: "Success",
    FAILED: "Failed",
    CANCELED: "Canceled",
    SKIPPED: "Skipped",
  },
  /** What a job that has not started waits for. */
  phases: {
    slot: "Held: slot",
    paused: "Held: pause",
    predecessors: "Held: tasks",
  },
  mergedInto: (day: string, clock: string) => `merged into that of ${day} ${clock}`,
  time: {
    modes: { utc: "UTC", mine: "My zone", schedule: "Schedule's zone", relative: "Relative" },
    howWritten: "How times are written",
    badClock: (text: string) => `“${text}”: write a day and a time of 24 hours, like 2026-11-21 08:00`,
    units: { ms: " ms", s: " s", min: " min", h: " h", d: " d" },
    now: "now",
    ago: (duration: string) => `${duration} ago`,
    later: (duration: string) => `in ${duration}`,
    day: (month: string, day: string) => `${month} ${day}`,
    ofYear: (day: string, year: string) => `${day} ${year}`,
  },
  /** The screens, by their names in the menu. */
  places: {
    overview: "Overview",
    jobs: "Jobs",
    schedules: "Schedules",
    upcoming: "Upcoming",
    kinds: "Kinds",
    runs: "Runs",
    deadLetters: "Dead letters",
    lanes: "Lanes & workers",
    locks: "Locks",
    activity: "Activity",
  },
  /** Names of fields and columns that many places show. */
  labels: {
    at: "At",
    all: "All",
    attempts: "Attempts",
    due: "Due",
    ended: "Ended",
    error: "Error",
    key: "Key",
    kind: "Kind",
    lane: "Lane",
    lateness: "Lateness",
    payload: "Payload",
    progress: "Progress",
    run: "Run",
    schedule: "Schedule",
    state: "State",
    took: "Took",
    when: "When",
    why: "Why",
    worker: "Worker",
  },
  shell: {
    skip: "Skip to the content",
    console: "Console",
    connection: { connecting: "Connecting", live: "Live", stale: "Stale", paused: "Paused" },
    neverHeard: "No live connection: what you see may be old. Trying again…",
    lastHeard: (ago: string) =>
      `The live connection is down, last heard ${ago}: what you see may be old. Trying again…`,
    rejectedSave: (file: string) => `The save of ${file} cannot be used; the code before it runs on.`,
    keyboard: "Keyboard shortcuts: ?",
    singleKeys: "Single-key shortcuts (Tab, Enter and Escape always work)",
    showList: "Show this list",
    goTo: (place: string) => `Go to ${place}`,
    language: "Language",
    themes: { system: "system", light: "light", dark: "dark" },
    theme: (theme: string, next: string) => `Theme: ${theme}. Change to ${next}`,
    nothingHere: "There is nothing at this address",
    goToOverview: "Go to the overview",
    needsAttention: (at: string) => `need attention, seen ${at}`,
    palette: "Go to…",
    paletteHint: "A screen, schedule, kind or lane, or the number of a job or run",
    skew: (by: string, isBehind: boolean) =>
      `This machine’s clock is ${by} ${isBehind ? "behind" : "ahead of"} the system’s. Times here go by the system’s.`,
  },
  /** Words that many places share. */
  shared: {
    close: "Close",
    older: "Older",
    show: "Show",
    dismiss: "Dismiss",
    undo: "Undo",
    tryAgain: "Try again",
    loading: "Loading…",
    columns: "Columns",
    none: "None",
    retry: "Retry",
    cancel: "Cancel",
    pause: "Pause",
    resume: "Resume",
    runNow: "Run now",
    showJobs: "Show jobs",
    showJob: "Show the job",
    actions: "Actions",
    notChanged: (name: string) => `${name} was not changed`,
    noCode: "no code",
    job: "job",
    span: "Span",
    keepAsIs: "Don’t change anything",
    copied: "Copied",
    notCopied: "Not copied",
    showAllCharacters: (length: number) => `Show all ${numberText(length)} characters`,
    newVersion: "There may be a new version of this page: load it again",
    partFailed: "This part of the page failed",
    noConnection: "No connection",
    notFound: "Not found",
    cannotAnswer: "The API could not answer",
    unreachable: "The API does not answer: is the system still running?",
    answered: (status: number) => `the API answered ${status}`,
    noSchedule: (id: string) => `There is no schedule ${id}`,
  },
  /** Who changed an object. */
  audits: {
    title: "Who changed it",
    none: "Nothing was changed by hand here, as far as the newest changes go back",
    columns: { who: "Who", what: "What", answer: "Answer", sent: "Sent" },
    object: "Object: /runs/1",
    changesBefore: "What changed before it began",
  },
  ranges: {
    of: {
      ended: "Ended at any time",
      created: "Created at any time",
      at: "At any time",
      nominal: "The newest times",
      night: "Since last evening",
    },
    spans: { "<1h": "Last hour", "last-night": "Last night", today: "Today", yesterday: "Yesterday", "<7d": "7 days" },
    since: "Since the deployment",
    between: "From … to …",
    noRelease: "No deployment is known",
  },
  filter: {
    write: "Write a filter",
    clear: "Clear the filter",
    noMatch: "Nothing matches this filter",
    suggestions: "Suggestions",
    nothingUntilCorrected: "Nothing matches until the filter is corrected.",
    twice: (field: string) => `“${field}:” comes twice: keep one of them`,
    noField: (field: string, fields: string) => `“${field}” is no field: use ${fields}`,
    noValue: (field: string) => `“${field}:” has no value yet`,
    noState: (value: string, states: string) => `“${value}” is no state: ${states}`,
    noNumber: (value: string) => `“${value}” is no number of a job: write id:42`,
    notSo: (field: string, value: string, forms: string) => `“${field}:${value}”: write ${forms}`,
    badRange: (field: string, value: string) =>
      `“${field}:${value}”: write due:past, due:<1h, ended:last-night, created:>1d, took:>10s, attempt:>1, or earlier..later`,
    nextRow: "Next row",
    rowBefore: "Row before",
    openRow: "Open the row",
  },
  /** Changes of many jobs. */
  bulk: {
    ongoing: (verb: Verb, done: Count, total: Count) =>
      `${verb === "retry" ? "Retrying" : "Canceling"} ${numberText(done)} of ${numberText(total)}`,
    stop: "Stop",
    notStopped: "It was not stopped",
    consequences: {
      retry: "Each starts again with its own id, key and history. You can stop half way.",
      cancel: "None of them will run; running ones are aborted. You can stop half way.",
    },
    none: (verb: Verb) => `No job here can be ${pasts[verb]}`,
    action: (verb: Verb, total: Count) => `${verbs[verb]} ${plural(total, "job")}`,
    notChanged: (verb: Verb) => `The jobs were not ${pasts[verb]}`,
    changed: (verb: Verb, changed: number, refused: number, isStopped: boolean) =>
      `${plural(changed, "job")} ${pasts[verb]}${isStopped ? " before it was stopped" : ""}${
        refused === 0 ? "" : `, ${numberText(refused)} left as they were`
      }`,
    filter: "Filter",
    everyJob: "none: every job",
    kinds: (among: string) => `Kinds${among}`,
    states: (among: string) => `States${among}`,
    ofNewest: (count: Count) => ` (of the newest ${numberText(count)})`,
    more: (count: number) => `${numberText(count)} more`,
  },
};

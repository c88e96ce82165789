/**
 * Why a job does not run yet, in pieces that follow each other. `{name}` is the place of a value. The page has the same pieces in
 * other languages. In a piece `at`, `until`, `since` and `latest` are times.
 */
export const waitTexts = {
  predecessors: "it waits for {open} of its predecessors",
  scheduleOff: "its schedule {schedule} is off",
  schedulePaused: "its schedule {schedule} is paused by {by}",
  lanePaused: "its lane {lane} is paused by {by}",
  kindPaused: "its kind {kind} is paused by {by}",
  blackout: "its lane {lane} is in a blackout until {until}, as its app defines",
  kindBlackout: "its kind {kind} is in a blackout until {until}, as its app defines",
  pauseEnds: " until {until}",
  pauseReason: " ({reason})",
  willSkip: ": it will be SKIPPED when its time comes",
  slot: "it waits for a slot of {key}: {taken} of {size} are taken, {before} wait longer",
  slotUnknown: "it waits for a slot of {key}: all are taken, {before} wait longer",
  place: "it waits for 1 of {size} places of {key}; {before} before it",
  onePlace: "it waits for 1 of 1 place of {key}; {before} before it",
  placeUnknown: "it waits for a place of {key}; {before} before it",
  rateAt: "it starts at about {at}: ",
  rateLater: "it starts when its rate lets it: ",
  rate: "{size} start each {seconds} s, ",
  rateOfLimit: "{size} of limit {limit} start each {seconds} s, ",
  rateBefore: "{before} before it",
  circuitClosed: "the circuit {name} is closed again, and releases its jobs in order",
  circuitOpen: "the circuit {name} is open until {until}",
  circuitProbed: "the circuit {name} is open until job {probe}, its probe, succeeds",
  circuitWhy: ": {failed} of {ended} failed, most with {code}",
  turn: "it waits for its turn: {before} of lane {lane} are before it",
  turnOfKey: "it waits for its turn: {before} of {key} in lane {lane} are before it",
  turnPriority: ", with priority {priority}",
  signal: 'it waits for the signal "{task}" until {until}',
  rows: "its rows are run {run}: {done} of {total} done, {failed} failed; the end of that run ends it",
  noRoom: "Fargate has no room for its task ({message}); it is launched again at {at}",
  rateLimited: "{message}; it is tried again at {at}",
  notStarted: "{message}; it is launched again at {at}: interruption {interruptions} of {most}",
  unknownKind: "{message}: it is tried again at {at}, and FAILED after {until}",
  retrying: "it tries again at {at}",
  retryingAfter: " after {code}",
  retryingFailure: ": failure {failures} of {most}",
  retryBudget: "; retries of {kind} are at their budget until then",
  due: "it is due at {at}",
  joined: ": joined {joined} times since {since}; due at the latest {latest}",
  batch: 'it waits until {until} for others of batch "{batch}"; {others} wait beside it',
  dispatching: "it is due and the next relay dispatches it, within seconds",
  noWorker: "its message is out, but no worker of lane {lane} was ever seen",
  noWorkerSince: "its message is out, but no worker of lane {lane} was seen since {since}",
  queued: "it is queued in lane {lane} behind {ahead}",
  queuedRunning: "; {running} run there now",
} as const;

export type WaitText = keyof typeof waitTexts;

/** What can be done about some of them that no button does. */
export const waitHints: Readonly<Partial<Record<WaitText, string>>> = {
  scheduleOff: "Switch the schedule on with `enabled` for this stage",
  circuitOpen: "Look at what the jobs call: when it answers, a probe closes the circuit. “Run now” sends one",
  noRoom: "If it lasts, ask AWS for a larger quota of the account",
  notStarted: "Look at the image, its roles and its network",
  unknownKind: "Deploy the code that defines it to the workers of its lane",
};

export const waitTextNames = Object.keys(waitTexts) as WaitText[];

type PlaceIn<S extends string> = S extends `${string}{${infer P}}${infer Rest}` ? P | PlaceIn<Rest> : never;
type Values<T extends WaitText> = Readonly<Record<PlaceIn<(typeof waitTexts)[T]>, string | number>>;

/** One piece with its values; a time as ISO 8601. */
export interface WaitPiece {
  readonly text: WaitText;
  readonly values: Readonly<Record<string, string | number>>;
}

export const piece = <T extends WaitText>(text: T, values: Values<T>): WaitPiece => ({ text, values });

/** The pieces of a sentence: texts and values in turn, by the place's name. */
export const placesIn = (text: string): readonly string[] => text.split(/\{(\w+)\}/);

/** In English. */
export const waitText = (pieces: readonly WaitPiece[]): string =>
  pieces
    .flatMap(({ text, values }) =>
      placesIn(waitTexts[text]).map((part, index) => (index % 2 === 0 ? part : String(values[part] ?? ""))),
    )
    .join("");

import { type GateReason, gateWords } from "../admission/gates.ts";
import type { ReasonWords } from "../admission/gate.ts";
import { type Reason, reasons } from "../machine/reasons.ts";

/** A scheduler that is away for less does not miss a time. */
export const missesText = "a scheduler was away for longer than two minutes";

/** The reasons that no gate has. */
const others: Readonly<Record<Exclude<Reason, GateReason>, ReasonWords>> = {
  [reasons.retry]: { job: "it failed and was tried again" },
  [reasons.retryBudget]: { job: "it failed, and its retry waited until the budget of its kind let it go" },
  [reasons.permanent]: { job: "its error says that no attempt can succeed" },
  [reasons.ambiguous]: { job: "it is unknown whether its effect outside happened" },
  [reasons.attemptsUsedUp]: { job: "no attempt was left" },
  [reasons.interrupted]: { job: "its worker was stopped or lost" },
  [reasons.neverStarted]: { job: "its task never started" },
  [reasons.postponed]: { job: "it could not go on yet" },
  [reasons.stopped]: { job: "its worker was stopped" },
  [reasons.deadline]: { job: "its invocation had no time left" },
  [reasons.taskStopped]: { job: "its task was stopped" },
  [reasons.lost]: { job: "its worker was lost" },
  [reasons.lapsed]: { job: "its lease expired" },
  [reasons.storeAway]: { job: "the database was away" },
  [reasons.messageLost]: { job: "its message was lost and sent again" },
  [reasons.undelivered]: { job: "its message came back without a worker" },
  [reasons.undeliverable]: {
    job: "no worker took any of its messages",
    time: ({ again }) => [
      "the message of its job died three times without a worker",
      `look at its lane's workers; ${again}`,
    ],
  },
  [reasons.upstream]: { job: "a task before it did not succeed" },
  [reasons.resumed]: { job: "its run was resumed" },
  [reasons.canceled]: {
    job: "a caller canceled it",
    time: ({ again }) => ["its job was canceled before it ran", again],
  },
  [reasons.runNow]: { job: "it was made due by hand" },
  [reasons.signal]: { job: "its signal came" },
  [reasons.backfill]: { job: "it was backfilled" },
  [reasons.withdrawn]: { job: "its schedule was changed" },
  [reasons.misfire]: {
    job: "it was missed and is not caught up",
    time: ({ again }) => [`${missesText}, and the misfire policy does not catch this time up`, again],
  },
  [reasons.dstGap]: {
    job: "the clock skipped its time",
    time: () => [
      "the clock skipped this reading: the gap rule is `skip`, or `auto` of an expression that names every hour",
      "use dst: { gap: 'first-valid' } to run it at the gap's end",
    ],
  },
  [reasons.excluded]: {
    job: "a calendar excludes its day",
    time: ({ calendar }) => [
      calendar,
      "to run such times on another day, set onExcluded; to run it once, trigger the schedule",
    ],
  },
  [reasons.notFollowed]: {
    job: "what it follows was not done in time",
    time: ({ followed, again }) => [followed, again],
  },
  [reasons.noJob]: {
    job: "its version is no longer defined",
    time: ({ again }) => ["an edit had ended its version, and no job of that version is defined any more", again],
  },
  [reasons.payload]: {
    job: "no payload could be made for it",
    time: ({ again }) => [
      "no payload could be made for it; the scheduler's log says why",
      `correct the function, then ${again}`,
    ],
  },
};

const words: Readonly<Record<Reason, ReasonWords>> = { ...others, ...gateWords };
const byText = new Map<string, ReasonWords>(Object.entries(words));

/** Of a stored reason. Code of another version may have written one that this version does not have. */
export const reasonWordsOf = (reason: string): ReasonWords =>
  byText.get(reason) ?? { job: `code of another version says "${reason}"` };

/** Why a handler's signal aborted. It is the signal's reason. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly why: "timeout" | "deadline" | "stopped" | "lost" | "lapsed";
  constructor(why: Interruption["why"]) {
    super(messages[why]);
    this.why = why;
  }
}

const messages: Record<Interruption["why"], string> = {
  timeout: "the handler did not finish within its timeout",
  deadline: "the worker's own time ran out",
  stopped: "the worker was stopped",
  lost: "the job is no longer this worker's: its lease ended or it was canceled",
  lapsed: "the lease could not be renewed for its whole length, so another worker may have the job",
};

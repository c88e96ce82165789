/** Reads ECS events of stopped tasks. */
import { reasons } from "../machine/reasons.ts";
import type { Outcome } from "../machine/decide.ts";
import type { AttemptRef, JobId } from "../machine/job.ts";

/** A stopped Belfry task: the attempt it was launched for, and why it ended. */
export interface TaskEnd extends AttemptRef {
  /** What comes after the last `/` of its ARN. */
  readonly task: string;
  readonly stopCode: string | null;
  /** The reasons of the task and its container, joined. */
  readonly reason: string;
  /** Null when no container ran, or ECS does not say. */
  readonly exitCode: number | null;
}

const exitOfKill = 137;

/** The `startedBy` of a task, which its events repeat: at most 128 letters, digits, `-`, `_` and `/`. */
export const startedByOf = ({ jobId, attempt }: AttemptRef): string => `belfry/${jobId}/${attempt}`;

/** @returns null for any other event than the end of a Belfry task. Unknown fields are ignored: AWS adds some over time. */
export function readTaskEnd(event: unknown): TaskEnd | null {
  const detail = at(event, "detail");
  const started = /^belfry\/([1-9]\d{0,18})\/([1-9]\d{0,8})$/.exec(text(at(detail, "startedBy")) ?? "");
  const arn = text(at(detail, "taskArn"));
  if (at(event, "detail-type") !== "ECS Task State Change" || at(detail, "lastStatus") !== "STOPPED") return null;
  if (started === null || arn === null) return null;
  const containers = at(detail, "containers");
  // A task that never started may list none.
  const container: unknown = Array.isArray(containers) ? containers[0] : undefined;
  const exitCode = at(container, "exitCode");
  const texts = [at(detail, "stoppedReason"), at(container, "reason")].flatMap((each) => text(each) ?? []);
  return {
    jobId: started[1] as JobId,
    attempt: Number(started[2]),
    task: arn.slice(arn.lastIndexOf("/") + 1),
    stopCode: text(at(detail, "stopCode")),
    reason: texts.join("; "),
    exitCode: typeof exitCode === "number" ? exitCode : null,
  };
}

/**
 * The outcome of an attempt that its task left unsettled. A task that never took its attempt over never ran the handler: it is
 * launched again, `waitMs` from now. A task that was stopped (by a person, a deployment, Spot) was interrupted. A task that
 * ended by itself without an outcome has failed, whatever its exit code, because it ran alone.
 */
export function outcomeOfEnd(end: TaskEnd, { ran, waitMs }: { ran: boolean; waitMs: number }): Outcome {
  const why = end.reason === "" ? (end.stopCode ?? "no reason given") : end.reason;
  if (!ran) {
    const noRoom = isNoRoom(end.reason);
    const code = noRoom ? "NO_ROOM" : "TASK_NOT_STARTED";
    return { is: "postponed", code, message: `its task never started: ${why}`, afterMs: waitMs, counted: !noRoom };
  }
  if (end.stopCode !== "EssentialContainerExited") return { is: "released", reason: reasons.taskStopped };
  if (/OutOfMemory/i.test(end.reason)) {
    return { is: "retryable", code: "OUT_OF_MEMORY", message: `its task ran out of memory: ${why}`, afterMs: null };
  }
  const code = end.exitCode === null ? "no exit code" : `exit code ${end.exitCode}`;
  const hint = end.exitCode === exitOfKill ? ", which is SIGKILL: most often too little memory" : "";
  const message = `its task ended without an outcome, with ${code}${hint}: ${why}`;
  return { is: "retryable", code: "TASK_EXITED", message, afterMs: null };
}

/** The words of ECS and Fargate, in answers of RunTask and in reasons of tasks. */
export const isNoRoom = (reason: string): boolean =>
  /capacity is unavailable|^RESOURCE:|reached the limit on the number of|rate exceeded|throttl/i.test(reason);

const at = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

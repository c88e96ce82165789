import { describe, expect, test } from "vitest";
import { reasons } from "../../src/machine/reasons.ts";
import type { JobId } from "../../src/machine/job.ts";
import { isNoRoom, outcomeOfEnd, readTaskEnd, startedByOf, type TaskEnd } from "../../src/run/task-end.ts";

const event = (detail: object, more: object = {}) => ({
  "detail-type": "ECS Task State Change",
  detail: {
    taskArn: "arn:aws:ecs:us-east-1:000000000000:task/belfry/0a1b",
    startedBy: "belfry/7/2",
    lastStatus: "STOPPED",
    ...detail,
  },
  ...more,
});

const end: TaskEnd = {
  jobId: "7" as JobId,
  attempt: 2,
  task: "0a1b",
  stopCode: null,
  reason: "",
  exitCode: null,
};

describe("an event of ECS", () => {
  test("names the attempt that its task was launched for", () => {
    expect(startedByOf({ jobId: "7" as JobId, attempt: 2 })).toBe("belfry/7/2");
    expect(readTaskEnd(event({}))).toStrictEqual(end);
    const largest = "belfry/9223372036854775807/999999999";
    expect(readTaskEnd(event({ startedBy: largest }))).toMatchObject({
      jobId: "9223372036854775807",
      attempt: 999_999_999,
    });
  });

  test.each<[string, object, Partial<TaskEnd>]>([
    ["no container, and no reason", {}, {}],
    ["an empty list of containers", { containers: [] }, {}],
    ["containers that are no list", { containers: { exitCode: 1 } }, {}],
    ["a container that is null", { containers: [null] }, {}],
    ["an exit code", { containers: [{ exitCode: 3 }] }, { exitCode: 3 }],
    ["an exit code that is text", { containers: [{ exitCode: "3" }] }, {}],
    ["the exit code of its first container", { containers: [{ exitCode: 3 }, { exitCode: 4 }] }, { exitCode: 3 }],
    ["a stop code", { stopCode: "UserInitiated" }, { stopCode: "UserInitiated" }],
    ["the task's reason alone", { stoppedReason: "a", containers: [{}] }, { reason: "a" }],
    ["the container's reason alone", { containers: [{ reason: "b" }] }, { reason: "b" }],
    ["both reasons", { stoppedReason: "a", containers: [{ reason: "b" }] }, { reason: "a; b" }],
    ["an empty reason and another", { stoppedReason: "", containers: [{ reason: "b" }] }, { reason: "b" }],
    ["reasons that are no text", { stoppedReason: 1, containers: [{ reason: ["b"] }] }, {}],
    ["an ARN without a slash", { taskArn: "0a1b" }, {}],
  ])("with %s is read as it is", (_, detail, read) => {
    expect(readTaskEnd(event(detail))).toStrictEqual({ ...end, ...read });
  });

  test.each<[string, unknown]>([
    ["null", null],
    ["no detail", { "detail-type": "ECS Task State Change" }],
    ["another type", event({}, { "detail-type": "ECS Service Action" })],
    ["a task that runs", event({ lastStatus: "RUNNING" })],
    ["no ARN", event({ taskArn: undefined })],
    ["no starter", event({ startedBy: undefined })],
    ["another starter", event({ startedBy: "ecs-svc/7/2" })],
    ["a starter with more before it", event({ startedBy: "x/belfry/7/2" })],
    ["a starter with more behind it", event({ startedBy: "belfry/7/2/1" })],
    ["a job 0", event({ startedBy: "belfry/0/2" })],
    ["an attempt 0", event({ startedBy: "belfry/7/0" })],
    ["a job of 20 digits", event({ startedBy: "belfry/10000000000000000000/2" })],
    ["an attempt of 10 digits", event({ startedBy: "belfry/7/1000000000" })],
  ])("with %s is of no Belfry task", (_, foreign) => {
    expect(readTaskEnd(foreign)).toBe(null);
  });
});

describe("what follows for the attempt", () => {
  const waitMs = 5_000;

  test.each<[Partial<TaskEnd>, string, boolean, string]>([
    [{}, "TASK_NOT_STARTED", true, "no reason given"],
    [{ stopCode: "TaskFailedToStart" }, "TASK_NOT_STARTED", true, "TaskFailedToStart"],
    [{ stopCode: "TaskFailedToStart", reason: "no such image" }, "TASK_NOT_STARTED", true, "no such image"],
    [{ reason: "Capacity is unavailable" }, "NO_ROOM", false, "Capacity is unavailable"],
    [{ stopCode: "EssentialContainerExited", exitCode: 3 }, "TASK_NOT_STARTED", true, "EssentialContainerExited"],
  ])("of a task that never started, with %j", (given, code, counted, why) => {
    expect(outcomeOfEnd({ ...end, ...given }, { ran: false, waitMs })).toStrictEqual({
      is: "postponed",
      code,
      message: `its task never started: ${why}`,
      afterMs: waitMs,
      counted,
    });
  });

  test.each([null, "UserInitiated", "ServiceSchedulerInitiated", "SpotInterruption"])(
    "of a task that was stopped (%s): it is released, whatever its exit code",
    (stopCode) => {
      for (const exitCode of [null, 0, 137])
        for (const reason of ["", "OutOfMemoryError"])
          expect(outcomeOfEnd({ ...end, stopCode, exitCode, reason }, { ran: true, waitMs })).toStrictEqual({
            is: "released",
            reason: reasons.taskStopped,
          });
    },
  );

  const exited = "EssentialContainerExited";
  const killed = "which is SIGKILL: most often too little memory";
  test.each<[Partial<TaskEnd>, string, string]>([
    [{}, "TASK_EXITED", `its task ended without an outcome, with no exit code: ${exited}`],
    [{ exitCode: 0 }, "TASK_EXITED", `its task ended without an outcome, with exit code 0: ${exited}`],
    [{ exitCode: 136 }, "TASK_EXITED", `its task ended without an outcome, with exit code 136: ${exited}`],
    [{ exitCode: 137 }, "TASK_EXITED", `its task ended without an outcome, with exit code 137, ${killed}: ${exited}`],
    [{ exitCode: 138, reason: "a" }, "TASK_EXITED", `its task ended without an outcome, with exit code 138: a`],
    [{ exitCode: 137, reason: "outofmemory" }, "OUT_OF_MEMORY", "its task ran out of memory: outofmemory"],
    [{ reason: "OutOfMemoryError: killed" }, "OUT_OF_MEMORY", "its task ran out of memory: OutOfMemoryError: killed"],
  ])("of a task that ended by itself, with %j", (given, code, message) => {
    expect(outcomeOfEnd({ ...end, stopCode: exited, ...given }, { ran: true, waitMs })).toStrictEqual({
      is: "retryable",
      code,
      message,
      afterMs: null,
    });
  });
});

test.each<[string, boolean]>([
  ["Capacity is unavailable at this time. Please try again later", true],
  ["RESOURCE:MEMORY", true],
  ["no RESOURCE:MEMORY", false],
  ["You've reached the limit on the number of tasks you can run concurrently", true],
  ["Rate exceeded", true],
  ["ThrottlingException", true],
  ["CannotPullContainerError: no such image", false],
  ["", false],
])("%j says that there is no room: %s", (reason, is) => {
  expect(isNoRoom(reason)).toBe(is);
});

import { describe, expect, it } from "vitest";
import { eachTest } from "../support/each-test.ts";
import type { JobId } from "../../src/machine/job.ts";
import type { TaskLaunch, Launcher } from "../../src/machine/launcher.ts";

/** A launcher and a way to see what it started. */
export interface OpenLauncher {
  readonly launcher: Launcher;
  /** As ECS describes it. */
  readonly describe: (task: string) => Promise<TaskSeen>;
}

export interface TaskSeen {
  readonly lastStatus: string;
  readonly startedBy: string;
  readonly command: readonly string[];
  readonly cpu: string;
  readonly memory: string;
  readonly stoppedReason: string;
}

let jobs = 0;

export const launchOf = (over: Partial<TaskLaunch> = {}): TaskLaunch => {
  const jobId = String(++jobs) as JobId;
  const common = { jobId, attempt: 1, kind: "long", worker: "worker-1", size: null };
  return { ...common, clientToken: `${jobId}-1-abc`, ...over };
};

/** Not every emulator remembers client tokens, or takes sizes from a launch. */
export interface LauncherGaps {
  readonly forgetsTokens?: boolean;
  readonly ignoresSizes?: boolean;
}

/** What every launcher must do. `open` gives one with nothing running. */
export function launcherContract(what: string, open: () => Promise<OpenLauncher>, gaps: LauncherGaps = {}): void {
  describe(`the launcher on ${what}`, () => {
    const opened = eachTest(open);
    const accepted = async (launch: TaskLaunch): Promise<string> => {
      const launched = await opened.launcher.launch(launch);
      if (launched.is !== "accepted") throw new Error(launched.reason);
      return launched.task;
    };

    it("starts a task that gets its job, its try and who claimed it", async () => {
      const launch = launchOf({ worker: "mail@host:1:ab" });
      const seen = await opened.describe(await accepted(launch));
      expect(seen.command).toEqual(["run-job", launch.jobId, "1", "mail@host:1:ab"]);
      expect(seen.startedBy).toBe(`belfry/${launch.jobId}/1`);
    });

    it.skipIf(gaps.forgetsTokens === true)("starts one task for one token, however often it is asked", async () => {
      const launch = launchOf();
      const first = await accepted(launch);
      expect(await accepted(launch)).toBe(first);
      expect(await accepted({ ...launch, attempt: 2, clientToken: "another" })).not.toBe(first);
    });

    it.skipIf(gaps.ignoresSizes === true)("gives a task the size of its job", async () => {
      const seen = await opened.describe(await accepted(launchOf({ size: { cpu: 1_024, memoryMb: 4_096 } })));
      expect(seen).toMatchObject({ cpu: "1024", memory: "4096" });
    });

    it("counts the tasks that run since before an instant", async () => {
      await accepted(launchOf());
      expect(await opened.launcher.runningSince(0)).toBe(0);
      expect(await opened.launcher.runningSince(Date.now() + 60_000)).toBeGreaterThan(0);
    });

    it("stops a task with the reason", async () => {
      const task = await accepted(launchOf());
      await opened.launcher.stop(task, "job 7 was canceled");
      expect(await opened.describe(task)).toMatchObject({ stoppedReason: "job 7 was canceled" });
    });

    it("takes it for no error that a task has stopped already, or never was", async () => {
      const task = await accepted(launchOf());
      await opened.launcher.stop(task, "once");
      await opened.launcher.stop(task, "twice");
      await opened.launcher.stop("0123456789abcdef0123456789abcdef", "unknown");
      expect(await opened.describe(task)).toMatchObject({ stoppedReason: "once" });
    });
  });
}

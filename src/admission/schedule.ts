import { reasons } from "../machine/reasons.ts";
import { pauseAt, pausePieces } from "../machine/pause.ts";
import { piece } from "../machine/wait-texts.ts";
import type { StateGate } from "./gate.ts";

/**
 * A schedule that is paused, off or removed starts no job. A job that has had an attempt goes on. Of a removed schedule a job is
 * refused while its occurrence is PLANNED: one that a person retries runs.
 */
export const scheduleGate = {
  form: "state",
  name: "schedule",
  refuses: {
    [reasons.paused]: {
      when: `m.attempt = 0 and s.paused_until > belfry.now()`,
      time: ({ again }) => ["the schedule was paused when its job would have started", `resume it; ${again}`],
    },
    [reasons.disabled]: {
      when: `m.attempt = 0 and not s.enabled`,
      time: ({ again }) => [
        "the schedule was off in this stage when its job would have started",
        `switch it on; ${again}`,
      ],
    },
    [reasons.deleted]: {
      when: `m.attempt = 0 and s.canceled_below is not null and exists (
        select from belfry.occurrence o where o.job_id = m.id and o.outcome = 'PLANNED' and o.schedule_version < s.canceled_below
      )`,
      time: () => ["the schedule was deleted before its job would have started", "make it again if that was a mistake"],
    },
  },
  waits: {
    cause: "paused",
    why({ job, facts, now }) {
      const pause = pauseAt(facts.schedule, Math.max(now, job.dueAt));
      if (facts.schedule === null || job.attempt > 0 || (pause === null && facts.schedule.enabled)) return null;
      const schedule = String(job.scheduleId);
      const how =
        pause === null
          ? [piece("scheduleOff", { schedule })]
          : [piece("schedulePaused", { schedule, by: pause.by }), ...pausePieces(pause)];
      return {
        pieces: [...how, piece("willSkip", {})],
        until: job.dueAt,
        advice:
          pause === null
            ? "switch the schedule on with `enabled` for this stage"
            : `resume the schedule: belfry schedules resume ${job.scheduleId}`,
      };
    },
  },
} as const satisfies StateGate;

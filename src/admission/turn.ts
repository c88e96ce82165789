import { levels, type Priority } from "../machine/turn.ts";
import { piece } from "../machine/wait-texts.ts";
import type { CodeGate, Wait, WaitingView } from "./gate.ts";
import { countText } from "./slots.ts";

/** What the jobs of a kind share their lane by. */
export interface TurnRule {
  readonly level: number;
  /** Null: all have one. */
  readonly key: ((payload: unknown) => string) | null;
  readonly weight: (payload: unknown) => number;
}

/** What such a job is held on. The name of a lane has no '#'. */
export const turnKey = (of: { readonly lane: string; readonly level: number; readonly key: string }): string =>
  `turn:${of.lane}#${of.level}#${of.key}`;

/** The job waits until its lane has a place for it: keys in turns, by weight; of a key the earliest by due time and priority. */
export const turnGate = {
  form: "code",
  name: "turn",
  refuses: {},
  waits: {
    cause: "turn",
    why({ job, facts, now }: WaitingView): Wait | null {
      const [, level, key] = /^turn:[^#]*#(-?\d)#(.*)$/s.exec(job.heldOn ?? "") ?? [];
      if (level === undefined || job.dueAt > now) return null;
      const of = { before: countText(facts.heldBefore), lane: job.lane };
      const priority = priorityOf(Number(level));
      const rank = priority === "normal" ? [] : [piece("turnPriority", { priority })];
      return { pieces: [key === "" ? piece("turn", of) : piece("turnOfKey", { ...of, key: key ?? "" }), ...rank] };
    },
  },
} as const satisfies CodeGate;

const priorityOf = (level: number): Priority =>
  (Object.keys(levels) as Priority[]).find((each) => levels[each] === level) ?? "normal";

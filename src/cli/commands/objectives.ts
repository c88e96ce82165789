import type { Command } from "commander";
import type { ObjectiveListReply } from "../../api/routes/objectives.ts";
import { formatDuration } from "../../calendar/duration.ts";
import type { Output, World } from "../output.ts";
import { type Columns, readCommand, tableOf } from "../read-command.ts";

export const objectivesCommand = (world: World, out: Output): Command =>
  readCommand(world, out, {
    name: "objectives",
    about: "what schedules promise of their times, and what is left of it",
    example: "schedules objectives",
    operation: "listObjectives",
    words: { schedule: "only this schedule" },
    text: ({ objectives }, { schedule }) =>
      objectives.length > 0
        ? tableOf(out, columns, objectives)
        : schedule === undefined
          ? "no schedule that is on has an objective"
          : `${schedule} is no schedule that is on and has an objective`,
    notes: ({ isMore }) => [isMore && "there are more: name a schedule"],
  });

type Stand = ObjectiveListReply["objectives"][number];

const percent = (share: number): string => `${Number((share * 100).toPrecision(12))} %`;
const promised = ({ onTimeMs, endsWithinMs, share, overMs }: Stand): string =>
  `${percent(share)} ${[
    ...(onTimeMs === null ? [] : [`start within ${formatDuration(onTimeMs)}`]),
    ...(endsWithinMs === null ? [] : [`are done within ${formatDuration(endsWithinMs)}`]),
  ].join(" and ")}, over ${formatDuration(overMs)}`;

const columns: Columns<Stand> = {
  SCHEDULE: ({ schedule }) => schedule,
  PROMISED: promised,
  TIMES: ({ times }) => String(times),
  MISSED: ({ missed }) => String(missed),
  LEFT: ({ left }) => (left < 0 ? `used up ${(1 - left).toFixed(1)}x` : percent(Number(left.toFixed(3)))),
  BURNS: ({ fast, slow }) =>
    [fast.burns && `fast, ${fast.rate.toFixed(1)}x`, slow.burns && `slow, ${slow.rate.toFixed(1)}x`]
      .filter((part) => part !== false)
      .join("; "),
};

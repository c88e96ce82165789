/** What a stack may hold: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html */
import type { ProblemList } from "../define/problem.ts";

/** Of CloudFormation, with room for what a team adds. */
const resourcesMax = 450;
/** Of the default bus of an account in one region, which other stages share. */
const rulesMax = 300;
/** A stack with one lane, at most; a test counts. */
const resourcesOfStack = 160;
const resourcesOfLane = 22;

export interface Sizes {
  readonly lanes: readonly unknown[];
  readonly wakes: readonly unknown[];
  readonly scheduleWakes: readonly unknown[];
}

/** An upper bound for the resources of a stage. Kinds of jobs and schedules by tick add none. */
export const resourcesAtMost = ({ lanes, scheduleWakes }: Sizes): number =>
  resourcesOfStack + (lanes.length - 1) * resourcesOfLane + scheduleWakes.length;

export function checkSizes(problems: ProblemList, all: Sizes): void {
  const rules = all.wakes.length + all.scheduleWakes.length;
  if (rules > rulesMax) {
    const rule = `must be at most ${rulesMax}, EventBridge's rules of one bus, which other stages of the account share`;
    problems.add("scheduleWakes", all.scheduleWakes.length, rule, 'use launch: "tick" for most schedules');
  }
  const resources = resourcesAtMost(all);
  if (resources > resourcesMax) {
    const rule = `makes about ${resources} resources, and must make at most ${resourcesMax} of CloudFormation's 500`;
    const fix =
      'use launch: "tick" for schedules with a rule of their own, put jobs into fewer lanes, or deploy two stages';
    problems.add("resources", `${all.lanes.length} lanes, ${all.scheduleWakes.length} rules`, rule, fix);
  }
}

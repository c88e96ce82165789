import { expect, test } from "vitest";
import { scheduleDifferences } from "../../src/core/scheduler/schedule-difference.ts";
import type { ScheduleRow, ScheduleSpec } from "../../src/core/ports/schedule.ts";
import { aRow, aSpec, midnight } from "./spec.ts";

const pause = { at: midnight, by: "ana", reason: null, until: null };
const two: Partial<ScheduleSpec> = { overlap: "skip", timezone: "Asia/Seoul" };

const rowOf = (over: Partial<ScheduleRow>, spec: Partial<ScheduleSpec> = {}): ScheduleRow =>
  aRow({ spec: aSpec(spec), version: 4, ...over });

const said = (specs: readonly ScheduleSpec[], rows: readonly ScheduleRow[]): readonly string[] =>
  scheduleDifferences(specs, rows).map(({ id, what, message }) => `${id} ${what}: ${message}`);

const takenOver =
  's taken-over: schedule "s" was made through the API and is now in code, which wins: a deploy takes it over';
const changed = 's changed: schedule "s" changes its timezone, overlap (version 5)';
const paused = 's paused: schedule "s" is paused by an operator; a deploy leaves it so';

test.each([
  [rowOf({}), []],
  [rowOf({ pause }), [paused]],
  [rowOf({}, two), [changed]],
  [rowOf({ pause }, two), [changed, paused]],
  [rowOf({}, { tzVersion: "2020b" }), ['s changed: schedule "s" changes its tzVersion (version 5)']],
  [rowOf({}, { startDeadlineMs: 5 }), ['s changed: schedule "s" changes its startDeadlineMs (version 5)']],
  [rowOf({ source: "api" }), [`${takenOver} and changes nothing of it`]],
  [rowOf({ source: "api", pause }, two), [`${takenOver} and changes its timezone, overlap`]],
  [rowOf({ source: "api" }, { overlap: "skip" }), [`${takenOver} and changes its overlap`]],
])("one of code beside what is stored, case %#", (row, want) => {
  expect(said([aSpec()], [row])).toEqual(want);
});

test.each([
  [rowOf({}), ['s removed: schedule "s" is not in code any more and is removed; its history stays']],
  [rowOf({}, { app: "other" }), []],
  [rowOf({ source: "api" }), ['s api: schedule "s" was made through the API; code does not know it']],
  [
    rowOf({ source: "api", pause }, { app: "other" }),
    ['s api: schedule "s" was made through the API and is paused; code does not know it'],
  ],
])("one that is stored and not in code, case %#", (row, want) => {
  const other = aSpec({ id: "t" });
  expect(said([other], [row])).toEqual(['t new: schedule "t" is new', ...want]);
  expect(said([other], [row, rowOf({ id: "t" }, { id: "t" })])).toEqual(want);
});

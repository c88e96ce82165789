import type { TaskSize } from "../machine/launcher.ts";
import type { ProblemList } from "./problem.ts";

/** What Fargate sells with so much CPU, in MB: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html */
const memories: Readonly<Record<number, { readonly min: number; readonly max: number; readonly step: number }>> = {
  256: { min: 512, max: 2_048, step: 512 },
  512: { min: 1_024, max: 4_096, step: 1_024 },
  1_024: { min: 2_048, max: 8_192, step: 1_024 },
  2_048: { min: 4_096, max: 16_384, step: 1_024 },
  4_096: { min: 8_192, max: 30_720, step: 1_024 },
  8_192: { min: 16_384, max: 61_440, step: 4_096 },
  16_384: { min: 32_768, max: 122_880, step: 8_192 },
};
/** With 256 the steps are not even. */
const smallest: readonly number[] = [512, 1_024, 2_048];

/** Of a job on Fargate that does not give its own. */
export const jobTaskSize = { cpu: 512, memoryMb: 1_024 } as const;

/** A pair that Fargate does not have is refused here, and not by the first launch. */
export function sizeFrom(
  size: TaskSize | undefined,
  runOn: "lambda" | "fargate",
  problems: ProblemList,
): TaskSize | null {
  if (size === undefined) return null;
  if (runOn !== "fargate") problems.add("size", size, "is of a task", 'use runOn: "fargate", or leave it out');
  return checkTaskSize(size, problems) ? size : null;
}

/** @returns whether its cpu is one of Fargate's. @param field what the problems call it */
export function checkTaskSize(size: { cpu: number; memoryMb: number }, problems: ProblemList, field = "size"): boolean {
  const memory = Object.hasOwn(memories, size.cpu) ? memories[size.cpu] : undefined;
  if (memory === undefined) {
    const fix = `use one of ${Object.keys(memories).join(", ")}`;
    problems.add(`${field}.cpu`, size.cpu, "is not a size of Fargate", fix);
    return false;
  }
  const { min, max, step } = memory;
  const isSold =
    size.cpu === 256
      ? smallest.includes(size.memoryMb)
      : size.memoryMb >= min && size.memoryMb <= max && size.memoryMb % step === 0;
  const sold = size.cpu === 256 ? smallest.join(", ") : `${min} to ${max} in steps of ${step}`;
  if (!isSold) problems.add(`${field}.memoryMb`, size.memoryMb, `is not sold with a cpu of ${size.cpu}`, `use ${sold}`);
  return true;
}

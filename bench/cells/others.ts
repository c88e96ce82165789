import { readFileSync } from "node:fs";

/** Of /proc/stat. */
const ticksPerSecond = 100;

/** Busy time of some cores so far, in microseconds: all but idle and waiting for a disk. */
function busyUs(cores: readonly number[]): number {
  const lines = readFileSync("/proc/stat", "utf8").split("\n");
  return cores.reduce((sum, core) => {
    const line = lines.find((each) => each.startsWith(`cpu${core} `)) ?? "";
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line
      .split(/\s+/)
      .slice(1)
      .map(Number);
    return sum + ((user + nice + system + irq + softirq + steal) / ticksPerSecond) * 1e6;
  }, 0);
}

/** @returns how many of these cores work took since this call, that was not `ownUs`. */
export function othersCores(cores: readonly number[]): (ownUs: number) => number {
  const startedMs = performance.now();
  const before = busyUs(cores);
  return (ownUs) => {
    const tookUs = (performance.now() - startedMs) * 1_000;
    return Math.min(cores.length, Math.max(0, (busyUs(cores) - before - ownUs) / tookUs));
  };
}

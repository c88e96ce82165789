import { fileURLToPath } from "node:url";
import type { Check } from "./check.ts";
import { faultyServer } from "./faulty.ts";
import { run } from "./tools.ts";
import type { Target } from "./world.ts";

const bin = fileURLToPath(new URL("../../bin/belfry.mjs", import.meta.url));
const rounds = 9;

/** How often the time of a bare start of Node each command may take: all in one run, each in turn, the best of each, which no other work on the machine slows. */
const commandsOf = ({ url }: Target) => [
  { name: "--version", args: [bin, "--version"], ratioMax: 2 },
  { name: "jobs list", args: [bin, "jobs", "list", "--url", url], ratioMax: 6 },
];

async function slowStarts(target: Target): Promise<readonly string[]> {
  const commands = [{ name: "bare", args: ["-e", "0"], ratioMax: 1 }, ...commandsOf(target)];
  const times = new Map<string, number[]>(commands.map(({ name }) => [name, []]));
  // The first round fills the caches.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, args } of commands) {
      const began = performance.now();
      const { code, output } = await run(process.execPath, args);
      if (code !== 0) return [`${name} ended with ${code}: ${output.slice(0, 200)}`];
      if (round > 0) times.get(name)?.push(performance.now() - began);
    }
  }
  const best = (name: string): number => Math.min(...(times.get(name) ?? []));
  return commands.flatMap(({ name, ratioMax }) => {
    const ratio = best(name) / best("bare");
    return ratio <= ratioMax ? [] : [`${name} takes ${ratio.toFixed(1)} times a bare start of Node, over ${ratioMax}`];
  });
}

function workLong(): null {
  const began = performance.now();
  while (performance.now() - began < 2_000);
  return null;
}

export const startCheck: Check = {
  name: "start of the command line",
  run: slowStarts,
  faults: {
    "an API that works for two seconds before it answers": (target) => faultyServer(target, { before: workLong }),
  },
};

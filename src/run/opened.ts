import { openValue, type SealedBy, type Seals } from "../machine/seal.ts";
import type { InRun } from "../machine/run.ts";
import type { Claimed } from "../machine/store.ts";

/** A claimed job as its handler gets it. @throws SealUnavailable, SealBroken */
export async function openClaimed(seals: Seals | undefined, seal: SealedBy, job: Claimed): Promise<Claimed> {
  const payload = await openValue(seals, seal, job.payload);
  return job.run === undefined ? { ...job, payload } : { ...job, payload, run: await openRun(seals, seal, job.run) };
}

/** What a task knows of its run. @throws SealUnavailable, SealBroken */
export async function openRun(seals: Seals | undefined, seal: SealedBy, run: InRun): Promise<InRun> {
  const { input, payload, outputs } = run;
  const left = Object.entries(outputs).map(
    async ([name, output]) =>
      [
        name,
        output.result === null ? output : { ...output, result: await openValue(seals, seal, output.result) },
      ] as const,
  );
  return {
    ...run,
    input: await openValue(seals, seal, input),
    payload: await openValue(seals, seal, payload),
    outputs: Object.fromEntries(await Promise.all(left)),
  };
}

import type { JobDefinition, Registry } from "../define/definition.ts";

/** Where a worker can be made to die: after it claimed a job, after the handler ended, or after the outcome was written. @beta */
export type CrashAt = "claimed" | "before-settle" | "settled";

/** Faults that a test planted, used up one by one. */
export class Faults {
  readonly #errors = new Map<string, Error[]>();
  #crash: CrashAt | null = null;

  fail(kind: string, error: Error, times: number): void {
    if (!Number.isInteger(times) || times < 1)
      throw new RangeError(`times is ${times}; it must be a whole number from 1`);
    const planned = this.#errors.get(kind) ?? [];
    planned.push(...Array.from({ length: times }, () => error));
    this.#errors.set(kind, planned);
  }

  crash(at: CrashAt): void {
    this.#crash = at;
  }

  /** Whether a worker dies at this crash point, once. */
  isFatal(point: string): boolean {
    if (this.#crash === null || crashPoints[this.#crash] !== point) return false;
    this.#crash = null;
    return true;
  }

  errorOf(kind: string): Error | undefined {
    return this.#errors.get(kind)?.shift();
  }
}

/** Where in a worker each is. */
const crashPoints: Readonly<Record<CrashAt, string>> = {
  claimed: "claimed",
  "before-settle": "effect.after",
  settled: "settled",
};

/** All definitions, where each attempt first meets its planted fault. */
export function faultyRegistry(registry: Registry, faults: Faults): Registry {
  const jobs = [...registry.jobs].map(([id, job]) => [id, faultyJob(job, () => faults.errorOf(id))] as const);
  return { ...registry, jobs: new Map(jobs) };
}

function faultyJob(job: JobDefinition, errorOf: () => Error | undefined): JobDefinition {
  const meet = (): void => {
    const error = errorOf();
    if (error !== undefined) throw error;
  };
  const { body } = job;
  // `onSettled` checks the payload too, and is no attempt.
  if (body.is === "handler" || (body.is === "task" && body.each === null)) {
    const run: typeof body.run = async (given, context) => {
      meet();
      return await body.run(given, context);
    };
    return { ...job, body: { ...body, run } };
  }
  return {
    ...job,
    async check(payload) {
      meet();
      return await job.check(payload);
    },
  };
}

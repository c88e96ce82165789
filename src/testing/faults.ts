import type { AppDefinition, JobDefinition, Registry } from "../core/define/definition.ts";
import { registry as registryOf } from "../core/define/definition.ts";

/** Where a worker can be made to die: after it claimed a job, after the handler ended, or after the outcome was written. */
export type CrashAt = "claimed" | "before-settle" | "settled";

/** Faults that a test planted, used up one by one. */
export class Faults {
  readonly #errors = new Map<string, Error[]>();
  #crash: CrashAt | null = null;

  fail(kind: string, error: Error, times: number): void {
    const planned = this.#errors.get(kind) ?? [];
    planned.push(...Array.from({ length: times }, () => error));
    this.#errors.set(kind, planned);
  }

  crash(at: CrashAt): void {
    this.#crash = at;
  }

  /** Whether a worker dies here, once. */
  isFatal(at: string): boolean {
    if (this.#crash !== at) return false;
    this.#crash = null;
    return true;
  }

  errorOf(kind: string): Error | undefined {
    return this.#errors.get(kind)?.shift();
  }
}

/** All definitions, where each run first meets what was planted for it. `die` never resolves. */
export function faultyRegistry(apps: readonly AppDefinition[], faults: Faults, die: () => Promise<never>): Registry {
  const registry = registryOf(apps);
  const jobs = [...registry.jobs].map(([id, job]): [string, JobDefinition] => [
    id,
    {
      ...job,
      async run(payload, context) {
        const error = faults.errorOf(id);
        if (error !== undefined) throw error;
        const result = await job.run(payload, context);
        return faults.isFatal("before-settle") ? await die() : result;
      },
    },
  ]);
  return { ...registry, jobs: new Map(jobs) };
}

import type { Fake } from "../examples/fake.ts";
import type { AppDefinition } from "./core/define/definition.ts";
import type { AppSet, Stage } from "./stages.ts";

/**
 * The apps of a stage. Loading is by stage, so that a stage without the examples never runs their code.
 */
export async function loadApps(stage: Pick<Stage, "apps">): Promise<readonly AppDefinition[]> {
  const sets = await Promise.all(stage.apps.map((set) => load[set]()));
  return sets.flat();
}

const load: Readonly<Record<AppSet, () => Promise<readonly AppDefinition[]>>> = {
  jobs: async () => (await import("../jobs/index.ts")).default,
  drill: async () => (await import("../jobs/drill.ts")).default,
  examples: async () => (await import("../examples/index.ts")).default,
};

/** The outside targets of the stage's apps, as `examples/fake.ts` describes them. Loading starts none. */
export async function loadFakes(stage: Pick<Stage, "apps">): Promise<readonly Fake[]> {
  return stage.apps.includes("examples") ? (await import("../examples/fakes.ts")).fakes : [];
}

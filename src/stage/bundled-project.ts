import type { Stage } from "./stages.ts";

/** A project without its folder: the code of its apps is in the same bundle. */
export interface BundledProject {
  readonly stages: Readonly<Record<string, Stage>>;
  readonly apps: Readonly<Record<string, () => Promise<unknown>>>;
  readonly fakes: (() => Promise<unknown>) | null;
}

/** `infra/bundle.ts` puts the project in place of this null. */
export const bundledProject: BundledProject | null = null;

/** A value that may differ by stage. A stage that is not named gets `default`, or the setting's own default. */
export type ByStage<T> = Readonly<Record<string, T>>;

/** A setting that is the same everywhere, or named by stage with an optional `default` for the others. */
export type PerStage<T> = T | ByStage<T>;

/**
 * The value of a setting in one stage: the stage's own, else `default`, else undefined.
 * Works for values that are not themselves objects.
 */
export function valueFor<T extends string | number | boolean>(
  stage: string,
  setting: PerStage<T> | undefined,
): T | undefined {
  if (typeof setting !== "object") return setting;
  if (Object.hasOwn(setting, stage)) return setting[stage];
  return setting["default"];
}

/** Changes every value of a setting, whether it differs by stage or not; `default` covers a plain value. */
export function mapStages<T extends string | number | boolean | undefined, U>(
  setting: PerStage<T>,
  change: (value: T, stage: string | null) => U,
): ByStage<U> {
  if (typeof setting !== "object") return { default: change(setting, null) };
  return Object.fromEntries(Object.entries(setting).map(([stage, value]) => [stage, change(value, stage)]));
}

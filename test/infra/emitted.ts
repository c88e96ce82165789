/** One value of one metric, as CloudWatch reads it from a line in its embedded format. */
export interface Emitted {
  readonly name: string;
  readonly unit: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly values: readonly number[];
}

interface Embedded {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
  readonly [field: string]: unknown;
}

export function emittedIn(lines: readonly string[]): readonly Emitted[] {
  return lines
    .filter((line) => line.includes('"_aws"'))
    .map((line) => JSON.parse(line) as Embedded)
    .flatMap((line) =>
      line["_aws"].CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
        Dimensions.flatMap((names) =>
          Metrics.map(({ Name, Unit }) => ({
            name: Name,
            unit: Unit,
            dimensions: Object.fromEntries(names.map((name) => [name, String(line[name])])),
            values: [line[Name]].flat().map(Number),
          })),
        ),
      ),
    );
}

/** All values of a metric added up. */
export const valueOf = (all: readonly Emitted[], metric: string): number =>
  all
    .filter(({ name }) => name === metric)
    .flatMap(({ values }) => values)
    .reduce((sum, value) => sum + value, 0);

import { isDeepStrictEqual } from "node:util";
import { runInNewContext } from "node:vm";
import { vi } from "vitest";

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

function emittedIn(lines: readonly string[]): readonly Emitted[] {
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

/** What the processes write in between: the stream is watched, because metrics go to a console of their own. */
export async function emitted(act: () => Promise<unknown>): Promise<readonly Emitted[]> {
  const lines: string[] = [];
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, "write").mockImplementation((text) => {
      lines.push(...String(text).split("\n"));
      return true;
    }),
  );
  try {
    await act();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return emittedIn(lines);
}

/** What an alarm's metric names, as CloudFormation writes it. */
export interface AlarmMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: unknown }[];
}

/** The metrics that an alarm reads, from its own fields or from its expression's. */
export function metricsOf(properties: Readonly<Record<string, unknown>>): readonly AlarmMetric[] {
  const many = properties["Metrics"] as { MetricStat?: { Metric: AlarmMetric } }[] | undefined;
  if (many === undefined) return [properties as unknown as AlarmMetric];
  return many.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric]));
}

interface Stat {
  readonly Metric: AlarmMetric;
  readonly Stat: string;
}

export const dimensionsOf = (metric: AlarmMetric): Readonly<Record<string, unknown>> =>
  Object.fromEntries(metric.Dimensions.map(({ Name, Value }) => [Name, Value]));

/** Whether the alarm goes off over these lines, as if they were written in one of its periods. */
export function isOver(alarm: Readonly<Record<string, unknown>>, all: readonly Emitted[]): boolean {
  const value = alarm["Metrics"] === undefined ? statistic(statOf(alarm), all) : calculated(alarm, all);
  if (value === null) return alarm["TreatMissingData"] === "breaching";
  const threshold = Number(alarm["Threshold"]);
  return alarm["ComparisonOperator"] === "LessThanThreshold" ? value < threshold : value > threshold;
}

const statOf = (alarm: Readonly<Record<string, unknown>>): Stat => ({
  Metric: alarm as unknown as AlarmMetric,
  Stat: String(alarm["Statistic"] ?? alarm["ExtendedStatistic"]),
});

/** Null where nothing was written: CloudWatch has no data then. */
function statistic({ Metric, Stat: name }: Stat, all: readonly Emitted[]): number | null {
  const wanted = dimensionsOf(Metric);
  const values = all
    .filter((each) => each.name === Metric.MetricName)
    .filter(({ dimensions }) => isDeepStrictEqual(dimensions, wanted))
    .flatMap((each) => each.values)
    .toSorted((a, b) => a - b);
  if (values.length === 0) return null;
  if (name === "Sum") return values.reduce((sum, value) => sum + value, 0);
  if (name === "SampleCount") return values.length;
  if (name === "Maximum") return values.at(-1) ?? null;
  if (name === "Minimum") return values[0] ?? null;
  if (name === "Average") return values.reduce((sum, value) => sum + value, 0) / values.length;
  if (name === "p99") return values[Math.ceil(values.length * 0.99) - 1] ?? null;
  throw new Error(`no statistic "${name}" here: add it`);
}

/** Metric math is close to JavaScript: its two functions are all that is added. */
function calculated(alarm: Readonly<Record<string, unknown>>, all: readonly Emitted[]): number | null {
  const parts = alarm["Metrics"] as readonly { Id: string; Expression?: string; MetricStat?: Stat }[];
  const expression = parts.find((part) => part.Expression !== undefined)?.Expression ?? "";
  const values = parts.flatMap(({ Id, MetricStat }) =>
    MetricStat === undefined ? [] : [[Id, statistic(MetricStat, all)] as const],
  );
  if (values.every(([, value]) => value === null)) return null;
  const known: Record<string, unknown> = {
    ...Object.fromEntries(values),
    FILL: (value: number | null, otherwise: number) => value ?? otherwise,
    IF: (condition: boolean, yes: number, no: number) => (condition ? yes : no),
  };
  return Number(runInNewContext(expression, known));
}

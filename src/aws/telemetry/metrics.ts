import { Metrics as Powertools } from "@aws-lambda-powertools/metrics";
import { madeOnce } from "../../machine/made-once.ts";
import type { Metrics } from "../../machine/ports.ts";
import { catalog } from "./catalog.ts";

export interface MetricsOptions {
  /** One value for all processes of a system, so that they share their metrics, and no other system does. */
  readonly system: string;
  readonly stage: string;
  /** The lane of a kind of job, the dimension of its attempts' metrics in every process. */
  readonly laneOf: (job: string) => string;
}

export const namespace = "Belfry";

/**
 * Metrics in CloudWatch's embedded format: JSON lines on stdout, one per set of dimensions and flush.
 * What was added but not flushed is lost with the process; counts that matter are rows.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const sets = new Map<string, Powertools>();
  const setOf = (dimensions: Dimensions): Powertools => {
    const name = JSON.stringify(Object.entries(dimensions).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    return madeOnce(sets, name, () => newSet(options, dimensions));
  };

  return {
    add(name, value, unit = "Count", dimensions = {}) {
      setOf(metricDimensions(name, dimensions, options.laneOf)).addMetric(name, unit, value);
    },
    flush() {
      for (const set of sets.values()) if (set.hasStoredMetrics()) set.publishStoredMetrics();
    },
  };
}

type Dimensions = Readonly<Record<string, string>>;

/**
 * The dimensions that a metric keeps. Kinds of jobs are never among them, because each would be one more metric to pay for
 * and one more alarm: what one kind does is counted in Postgres. @param laneOf by the kind of a job.
 */
export function metricDimensions(name: string, dimensions: Dimensions, laneOf: (job: string) => string): Dimensions {
  const shape = catalog[name];
  if (shape === undefined) return dimensions;
  const { job, lane = job === undefined ? undefined : laneOf(job) } = dimensions;
  return shape.by === "lane" && lane !== undefined ? { lane } : {};
}

/** Dimensions given at construction outlive a flush, and Powertools itself flushes at 100 values of a metric. */
function newSet(options: MetricsOptions, dimensions: Dimensions): Powertools {
  return new Powertools({
    namespace,
    // The library always writes the dimension `service`.
    serviceName: options.system,
    defaultDimensions: { stage: options.stage, ...dimensions },
  });
}

/** For processes whose metrics are not read. */
export const noMetrics: Metrics = { add: () => {}, flush: () => {} };

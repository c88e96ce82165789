import { Metrics as Powertools } from "@aws-lambda-powertools/metrics";
import type { Metrics } from "../../machine/ports.ts";
import { metricDimensions } from "./catalog.ts";

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
  const setOf = (dimensions: Readonly<Record<string, string>>): Powertools => {
    const name = JSON.stringify(Object.entries(dimensions).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const known = sets.get(name) ?? newSet(options, dimensions);
    sets.set(name, known);
    return known;
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

/** Dimensions given at construction outlive a flush, and Powertools itself flushes at 100 values of a metric. */
function newSet(options: MetricsOptions, dimensions: Readonly<Record<string, string>>): Powertools {
  return new Powertools({
    namespace,
    // The library always writes the dimension `service`.
    serviceName: options.system,
    defaultDimensions: { stage: options.stage, ...dimensions },
  });
}

/** For processes whose metrics are not read. */
export const noMetrics: Metrics = { add: () => {}, flush: () => {} };

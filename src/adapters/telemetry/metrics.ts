import { Metrics as Powertools } from "@aws-lambda-powertools/metrics";
import type { Metrics } from "../../core/ports/ports.ts";
import { kept } from "./catalog.ts";

export interface MetricsOptions {
  readonly service: string;
  /** In every metric. Bounded: each combination of dimensions is a metric that is paid for. */
  readonly dimensions: Readonly<Record<string, string>>;
  /** Kinds that alarms are about: metrics of ours are told apart by these only. Default: none. */
  readonly jobs?: readonly string[];
}

export const namespace = "Belfry";

/**
 * Metrics in CloudWatch's embedded format: JSON lines on stdout, one per set of dimensions and flush.
 * What was added but not flushed is lost with the process; counts that matter are rows.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const sets = new Map<string, Powertools>();
  const jobs = new Set(options.jobs);

  const setOf = (dimensions: Readonly<Record<string, string>>): Powertools => {
    const name = JSON.stringify(Object.entries(dimensions).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const known = sets.get(name) ?? newSet(options, dimensions);
    sets.set(name, known);
    return known;
  };

  return {
    add(name, value, unit = "Count", dimensions = {}) {
      setOf(kept(name, dimensions, jobs)).addMetric(name, unit, value);
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
    serviceName: options.service,
    defaultDimensions: { ...options.dimensions, ...dimensions },
  });
}

/** For processes whose metrics nobody reads. */
export const noMetrics: Metrics = { add: () => {}, flush: () => {} };

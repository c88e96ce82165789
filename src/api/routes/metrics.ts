import { durationBuckets, type KindTotal } from "../../core/ports/overview.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";

/** GET /metrics: totals by job, in the text format of Prometheus. They are added up in the background, a second or two late. */
export function metricsEndpoint({ operations }: ApiOptions): Endpoint {
  return endpoint({
    method: "GET",
    name: "getMetrics",
    path: "/metrics",
    summary: "Totals by job in the text format of Prometheus",
    role: "read",
    replies: {},
    streams: "text/plain",
    async handle() {
      const text = metricsText(await operations.kindTotals());
      return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
    },
  });
}

function metricsText(totals: readonly KindTotal[]): string {
  return [
    ...family("scheduler_execution_time_seconds", "histogram", "How long tries took.", totals, histogram),
    ...counter("scheduler_items_processed_total", "Items that batches looked at.", totals, (t) => t.itemsProcessed),
    ...counter("scheduler_items_succeeded_total", "Items that went well.", totals, (t) => t.itemsSucceeded),
    ...counter("scheduler_items_failed_total", "Items that did not.", totals, (t) => t.itemsFailed),
    ...counter("scheduler_lock_acquired_total", "Jobs that got their lock.", totals, (t) => t.locksAcquired),
    ...counter("scheduler_lock_failed_total", "Jobs skipped because it was held.", totals, (t) => t.locksFailed),
    "",
  ].join("\n");
}

function family(
  name: string,
  type: string,
  help: string,
  totals: readonly KindTotal[],
  lines: (name: string, total: KindTotal) => readonly string[],
): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...totals.flatMap((total) => lines(name, total))];
}

const counter = (name: string, help: string, totals: readonly KindTotal[], of: (total: KindTotal) => number) =>
  family(name, "counter", help, totals, (_, total) => [`${name}{job="${escaped(total.kind)}"} ${of(total)}`]);

function histogram(name: string, { kind, buckets, tries, seconds }: KindTotal): readonly string[] {
  const job = `job="${escaped(kind)}"`;
  let below = 0;
  const bounds = durationBuckets.map((bound, index) => {
    below += buckets[index] ?? 0;
    return `${name}_bucket{${job},le="${bound}"} ${below}`;
  });
  return [
    ...bounds,
    `${name}_bucket{${job},le="+Inf"} ${tries}`,
    `${name}_sum{${job}} ${seconds}`,
    `${name}_count{${job}} ${tries}`,
  ];
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

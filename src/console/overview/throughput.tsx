import type { ThroughputMinute } from "../client.ts";
import { Chart } from "./chart.tsx";
import { words } from "../language/words.ts";

interface ThroughputProps {
  readonly minutes: readonly ThroughputMinute[];
  /** Minutes that are shown. */
  readonly span: number;
  readonly onSpan: (span: number) => void;
}

const spans = [60, 360, 1440] as const;

export function Throughput({ minutes, span, onSpan }: ThroughputProps) {
  const total = (of: (minute: ThroughputMinute) => number): number =>
    minutes.reduce((sum, minute) => sum + of(minute), 0);
  const [succeeded, failed, retried] = [total((m) => m.succeeded), total((m) => m.failed), total((m) => m.retried)];
  return (
    <section class="card" aria-label={words.overview.throughput}>
      <header class="card-head">
        <h2>{words.overview.throughput}</h2>
        <span class="legend">
          <span>
            <i class="swatch fill-success" />
            {words.overview.succeeded(succeeded)}
          </span>
          <span>
            <i class="swatch fill-retry_wait" />
            {words.overview.retried(retried)}
          </span>
          <span>
            <i class="swatch fill-failed" />
            {words.overview.failed(failed)}
          </span>
        </span>
        <span class="space" />
        <div class="tabs" role="group" aria-label={words.shared.span}>
          {spans.map((value) => (
            <button key={value} type="button" aria-pressed={value === span} onClick={() => onSpan(value)}>
              {words.overview.spans[value]}
            </button>
          ))}
        </div>
      </header>
      <Chart minutes={minutes} span={span} />
    </section>
  );
}

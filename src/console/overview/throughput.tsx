import type { ShownMinute } from "../shape.ts";
import { counted } from "../words.ts";
import { Chart } from "./chart.tsx";

interface ThroughputProps {
  readonly minutes: readonly ShownMinute[];
  /** Minutes that are shown. */
  readonly span: number;
  readonly onSpan: (span: number) => void;
}

const spans = [
  { minutes: 60, name: "1 h" },
  { minutes: 360, name: "6 h" },
  { minutes: 1_440, name: "24 h" },
] as const;

export function Throughput({ minutes, span, onSpan }: ThroughputProps) {
  const total = (of: (minute: ShownMinute) => number): number => minutes.reduce((sum, minute) => sum + of(minute), 0);
  const [succeeded, failed, retried] = [total((m) => m.succeeded), total((m) => m.failed), total((m) => m.retried)];
  return (
    <section class="card" aria-label="Throughput">
      <header class="card-head">
        <h2>Throughput</h2>
        <span class="legend">
          <span>
            <i class="swatch fill-success" />
            {`${counted(succeeded)} succeeded`}
          </span>
          <span>
            <i class="swatch fill-retry_wait" />
            {`${counted(retried)} retried`}
          </span>
          <span>
            <i class="swatch fill-failed" />
            {`${counted(failed)} failed`}
          </span>
        </span>
        <span class="space" />
        <div class="tabs" role="group" aria-label="Span">
          {spans.map(({ minutes: value, name }) => (
            <button key={value} type="button" aria-pressed={value === span} onClick={() => onSpan(value)}>
              {name}
            </button>
          ))}
        </div>
      </header>
      <Chart minutes={minutes} span={span} />
    </section>
  );
}

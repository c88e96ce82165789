import type { ThroughputMinute } from "../client.ts";
import { Card, Legend, Tabs } from "../parts/index.ts";
import { Chart } from "./chart.tsx";
import { words } from "../language/words.ts";

interface ThroughputProps {
  readonly minutes: readonly ThroughputMinute[];
  /** Minutes that are shown. */
  readonly span: number;
  readonly onSpan: (span: number) => void;
}

const spans = ([60, 360, 1440] as const).map((value) => ({ value: String(value), name: words.overview.spans[value] }));

export function Throughput({ minutes, span, onSpan }: ThroughputProps) {
  const total = (of: (minute: ThroughputMinute) => number): number =>
    minutes.reduce((sum, minute) => sum + of(minute), 0);
  const [succeeded, failed, retried] = [total((m) => m.succeeded), total((m) => m.failed), total((m) => m.retried)];
  return (
    <Card
      title={words.overview.throughput}
      about={
        <>
          <Legend
            of={[
              { look: "fill-success", text: words.overview.succeeded(succeeded) },
              { look: "fill-retry_wait", text: words.overview.retried(retried) },
              { look: "fill-failed", text: words.overview.failed(failed) },
            ]}
          />
          <span class="space" />
          <Tabs
            label={words.shared.span}
            among={spans}
            value={String(span)}
            onChoose={(value) => onSpan(Number(value))}
          />
        </>
      }
    >
      <Chart minutes={minutes} span={span} />
    </Card>
  );
}

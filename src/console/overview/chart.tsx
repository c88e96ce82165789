import { currentTime } from "../clock.ts";
import type { ThroughputMinute } from "../client.ts";
import { type Bar, Bars } from "../parts/index.ts";
import { inZone, myZone, timeMode } from "../time.ts";
import { words } from "../language/words.ts";

interface ChartProps {
  readonly minutes: readonly ThroughputMinute[];
  readonly span: number;
}

const buckets = 60;

/** Ended attempts over time, stacked; what failed stands on the ground, where it is seen. */
export function Chart({ minutes, span }: ChartProps) {
  const bucketMs = (span / buckets) * 60_000;
  const to = Math.floor(currentTime() / bucketMs) * bucketMs + bucketMs;
  const from = to - buckets * bucketMs;
  const sums = Array.from({ length: buckets }, () => ({ succeeded: 0, retried: 0, failed: 0 }));
  for (const minute of minutes) {
    const sum = sums[Math.floor((Date.parse(minute.at) - from) / bucketMs)];
    if (sum === undefined) continue;
    sum.succeeded += minute.succeeded;
    sum.retried += minute.retried;
    sum.failed += minute.failed;
  }
  const bars = sums.map(({ succeeded, retried, failed }, index): Bar => {
    const said = [words.overview.succeeded(succeeded), words.overview.retried(retried), words.overview.failed(failed)];
    return {
      title: `${clockAt(from + index * bucketMs)}\n${said.join("\n")}`,
      parts: [
        { fill: "failed", value: failed },
        { fill: "retry_wait", value: retried },
        { fill: "success", value: succeeded },
      ],
    };
  });
  const iso = (at: number): string => new Date(at).toISOString();
  return <Bars label={words.overview.chart} bars={bars} from={iso(from)} to={iso(to)} />;
}

function clockAt(at: number): string {
  const { text, zone } = inZone(at, currentTime(), timeMode.value === "mine" ? myZone : "UTC");
  return `${text} ${zone}`;
}

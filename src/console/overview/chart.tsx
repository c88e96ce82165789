import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { currentTime } from "../clock.ts";
import { repairBrowserLanguage } from "../language/choice.ts";
import type { ThroughputMinute } from "../client.ts";
import { theme } from "../theme.ts";
import { inZone, myZone, timeMode } from "../time.ts";
import { words } from "../language/words.ts";

interface ChartProps {
  readonly minutes: readonly ThroughputMinute[];
  readonly span: number;
}

const height = 170;

/** Ended attempts over time, stacked. The library is loaded with the first chart; its numbers also stand in words above. */
export function Chart({ minutes, span }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = stacked(minutes, span);
  const latest = useRef(data);
  latest.current = data;
  const mode = timeMode.value;
  const look = theme.value;

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let isGone = false;
    let observer: ResizeObserver | null = null;
    const draw = (Plot: typeof uPlot): void => {
      if (isGone) return;
      const made = new Plot(optionsOf(element, Plot), latest.current, element);
      plot.current = made;
      observer = new ResizeObserver(() => made.setSize({ width: widthOf(element), height }));
      observer.observe(element);
    };
    repairBrowserLanguage();
    // Without the chart its numbers still stand above it.
    import("uplot")
      .then((loaded) => draw(loaded.default))
      .catch(() => element.replaceChildren(words.overview.notDrawn));
    return () => {
      isGone = true;
      observer?.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [span, mode, look]);
  useEffect(() => plot.current?.setData(data), [minutes]);
  return <div ref={box} class="chart" role="img" aria-label={words.overview.chart} />;
}

/** Buckets of some minutes, each series on top of the next, so that all three are bars from the ground. */
function stacked(minutes: readonly ThroughputMinute[], span: number): uPlot.AlignedData {
  const bucketMs = (span / 60) * 60_000;
  const last = Math.floor(currentTime() / bucketMs) * bucketMs;
  const at = Array.from({ length: 60 }, (_, index) => last - (59 - index) * bucketMs);
  const sums = at.map(() => ({ succeeded: 0, retried: 0, failed: 0 }));
  for (const minute of minutes) {
    const sum = sums[59 - Math.floor((last + bucketMs - 1 - Date.parse(minute.at)) / bucketMs)];
    if (sum === undefined) continue;
    sum.succeeded += minute.succeeded;
    sum.retried += minute.retried;
    sum.failed += minute.failed;
  }
  return [
    at.map((value) => value / 1_000),
    sums.map(({ succeeded, retried, failed }) => succeeded + retried + failed),
    sums.map(({ retried, failed }) => retried + failed),
    sums.map(({ failed }) => failed),
  ];
}

function optionsOf(element: HTMLElement, Plot: typeof uPlot): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => resolved(element, name);
  const bars = Plot.paths.bars?.({ size: [0.7, 20] });
  const series = (name: string): uPlot.Series => ({
    fill: color(name),
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  });
  const axis = { stroke: color("--dim"), font: `11px ${style.fontFamily}`, ticks: { show: false } };
  return {
    width: widthOf(element),
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 16, 0, 0],
    scales: {
      x: { range: (_, from, to) => [from - (to - from) / 118, to + (to - from) / 118] },
      y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] },
    },
    axes: [
      { ...axis, size: 24, grid: { show: false }, values: (_, splits) => splits.map(label) },
      { ...axis, size: 44, grid: { stroke: color("--line"), width: 1 }, values: (_, splits) => splits.map(whole) },
    ],
    series: [{}, series("--success"), series("--retry-wait"), series("--failed")],
  };
}

/** Without its padding. */
function widthOf(element: HTMLElement): number {
  const { paddingLeft, paddingRight } = getComputedStyle(element);
  return element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
}

const whole = (value: number): string => (Number.isInteger(value) ? String(value) : "");

function label(seconds: number): string {
  const zone = timeMode.value === "mine" ? myZone : "UTC";
  return inZone(seconds * 1_000, seconds * 1_000, zone).text.slice(0, 5);
}

/** A canvas knows no variables. */
function resolved(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

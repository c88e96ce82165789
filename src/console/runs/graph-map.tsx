import { useEffect, useState } from "preact/hooks";
import type { LaidOut } from "./layout.ts";

interface GraphMapProps {
  /** What scrolls. */
  readonly box: { readonly current: HTMLElement | null };
  readonly laidOut: LaidOut;
  readonly size: { readonly width: number; readonly height: number };
  readonly scale: number;
  readonly lookOf: (id: string) => string;
}

interface Seen {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const mapWidth = 168;
const mapHeightMax = 112;
/** Of a wide and flat graph: a thinner map could not be clicked. */
const mapHeightMin = 16;

/** The whole drawing in a corner with what is seen of it: a press goes there. Keys scroll the drawing itself. */
export function GraphMap({ box, laidOut, size, scale, lookOf }: GraphMapProps) {
  const seen = useSeen(box, scale);
  if (seen === null || (seen.width >= laidOut.width && seen.height >= laidOut.height)) return null;
  const height = Math.max(mapHeightMin, Math.min(mapHeightMax, (mapWidth * laidOut.height) / laidOut.width));
  const go = (event: PointerEvent): void => {
    if (event.buttons === 0 || !(event.currentTarget instanceof Element) || box.current === null) return;
    const { left, top, width, height: tall } = event.currentTarget.getBoundingClientRect();
    const x = ((event.clientX - left) / width) * laidOut.width;
    const y = ((event.clientY - top) / tall) * laidOut.height;
    box.current.scrollLeft = (x - seen.width / 2) * scale;
    box.current.scrollTop = (y - seen.height / 2) * scale;
  };
  return (
    <svg
      class="graph-map"
      width={mapWidth}
      height={height}
      viewBox={`0 0 ${laidOut.width} ${laidOut.height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
      onPointerDown={go}
      onPointerMove={go}
    >
      {laidOut.places.map(({ id, x, y }) => (
        <rect key={id} class={lookOf(id)} x={x} y={y} width={size.width} height={size.height} />
      ))}
      <rect class="graph-seen" x={seen.left} y={seen.top} width={seen.width} height={seen.height} />
    </svg>
  );
}

/** What of the drawing is in view, in its own measure; null until it is known. */
function useSeen(box: GraphMapProps["box"], scale: number): Seen | null {
  const [seen, setSeen] = useState<Seen | null>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = (): void => {
      const { scrollLeft, scrollTop, clientWidth, clientHeight } = element;
      setSeen({
        left: scrollLeft / scale,
        top: scrollTop / scale,
        width: clientWidth / scale,
        height: clientHeight / scale,
      });
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [scale]);
  return seen;
}

import { useEffect, useState } from "preact/hooks";
import type { LaidOut } from "./layout.ts";

export const zoomStep = 1.25;
const scaleMin = 0.1;
const scaleMax = 2;

export interface Zoom {
  readonly scale: number;
  /** What is in the middle stays there. */
  readonly zoomBy: (factor: number) => void;
  /** The whole drawing, never larger than it is. */
  readonly fit: () => void;
}

/** How large a drawing is shown: by Ctrl and the wheel, by two fingers, or by `zoomBy`. */
export function useZoom(box: { readonly current: HTMLElement | null }, { width, height }: LaidOut): Zoom {
  const [scale, setScale] = useState(1);
  const zoomBy = (factor: number): void =>
    setScale((before) => {
      const next = Math.min(scaleMax, Math.max(scaleMin, before * factor));
      keepMiddle(box.current, next / before);
      return next;
    });
  const fit = (): void => {
    const element = box.current;
    if (element === null) return;
    const both = Math.min(element.clientWidth / width, element.clientHeight / height);
    setScale(Math.min(1, Math.max(scaleMin, both)));
  };
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomBy(event.deltaY < 0 ? zoomStep : 1 / zoomStep);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
  return { scale, zoomBy, fit };
}

/** Once the drawing has its new size. */
function keepMiddle(element: HTMLElement | null, factor: number): void {
  if (element === null) return;
  const { scrollLeft, scrollTop, clientWidth, clientHeight } = element;
  requestAnimationFrame(() => {
    element.scrollLeft = (scrollLeft + clientWidth / 2) * factor - clientWidth / 2;
    element.scrollTop = (scrollTop + clientHeight / 2) * factor - clientHeight / 2;
  });
}

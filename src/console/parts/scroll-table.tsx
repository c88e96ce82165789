import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Around a table or drawing without links: where it is wider than the window it scrolls, and then the keyboard reaches it too. */
export function ScrollTable({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const reachable = scrolls ? { tabIndex: 0, role: "region" as const, "aria-label": label } : {};
  return (
    <div ref={box} class="scroll-table" {...reachable}>
      {children}
    </div>
  );
}

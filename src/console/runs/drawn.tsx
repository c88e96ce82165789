import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../keys.ts";
import { words } from "../language/words.ts";
import { Button, Loaded } from "../parts/index.ts";
import { useResource } from "../resource.ts";
import { type LaidOut, layOut } from "./layout.ts";

interface Line {
  readonly from: string;
  readonly to: string;
  readonly isTaken: boolean;
}

interface DrawnProps {
  readonly label: string;
  /** What is shown of each, by its id. */
  readonly nodes: ReadonlyMap<string, ComponentChildren>;
  readonly lines: readonly Line[];
  readonly size: { readonly width: number; readonly height: number };
}

/** Boxes and the lines between them, laid out beside the page. */
export function GraphDrawing(props: DrawnProps) {
  const { lines, size } = props;
  const nodes = [...props.nodes.keys()];
  const edges = lines.map(({ from, to }) => [from, to] as const);
  const shape = `${nodes.join()}|${edges.map((edge) => edge.join(">")).join()}`;
  const laidOut = useResource(shape, (signal) => layOut({ nodes, edges, ...size }, signal), { again: "never" });
  return <Loaded of={laidOut}>{(found) => <Pane {...props} laidOut={found} />}</Loaded>;
}

/** A box of less than 24 pixels is no target for a finger. */
const scaleMin = 0.7;

/** The whole of it, or at its own size, moved by scrolling. */
function Pane({ label, nodes, lines, size, laidOut }: DrawnProps & { readonly laidOut: LaidOut }) {
  const box = useRef<HTMLDivElement>(null);
  const [isWhole, setWhole] = useState(true);
  const [fitted, fit] = useState(1);
  const { width, height } = laidOut;
  useEffect(() => {
    const { clientWidth = width, clientHeight = height } = box.current ?? {};
    fit(Math.min(1, Math.max(scaleMin, Math.min(clientWidth / width, clientHeight / height))));
  }, [laidOut]);
  const scale = isWhole ? fitted : 1;
  const name = isWhole ? words.tasks.ownSize : words.tasks.fit;
  const toggle = (): void => setWhole(!isWhole);
  useKeys([{ keys: "0", does: name, run: toggle }]);
  return (
    <div class="graph-frame">
      <div ref={box} class="graph" tabIndex={0} role="region" aria-label={label}>
        <div class="graph-size" style={{ width: `${width * scale}px`, height: `${height * scale}px` }}>
          <div
            class="graph-ground"
            style={{ width: `${width}px`, height: `${height}px`, transform: `scale(${scale})` }}
          >
            <Ground {...{ nodes, lines, size, laidOut }} />
          </div>
        </div>
      </div>
      {fitted < 1 ? <Button text={name} look="small graph-tools" onClick={toggle} /> : null}
    </div>
  );
}

type GroundProps = Pick<DrawnProps, "nodes" | "lines" | "size"> & { readonly laidOut: LaidOut };

/** The box under the pointer or with the focus shows its lines; the others step back. */
function Ground({ nodes, lines, size, laidOut }: GroundProps) {
  const [focus, setFocus] = useState<string | null>(null);
  const places = new Map(laidOut.places.map((place) => [place.id, place]));
  return (
    <>
      <svg
        class={focus === null ? "" : "has-focus"}
        width={laidOut.width}
        height={laidOut.height}
        aria-hidden="true"
        focusable="false"
      >
        {lines.map(({ from, to, isTaken }, index) => {
          const [a, b] = [places.get(from), places.get(to)];
          if (a === undefined || b === undefined) return null;
          const look = `edge${isTaken ? " taken" : ""}${focus === from || focus === to ? " focused" : ""}`;
          return <path key={`${from}>${to}`} class={look} d={curve(a, b, laidOut.lines[index] ?? [], size)} />;
        })}
      </svg>
      <ul onPointerLeave={() => setFocus(null)}>
        {laidOut.places.map(({ id, x, y }) => (
          <li
            key={id}
            class="node"
            style={{ left: `${x}px`, top: `${y}px`, width: `${size.width}px`, height: `${size.height}px` }}
            onPointerEnter={() => setFocus(id)}
            onFocusCapture={() => setFocus(id)}
          >
            {nodes.get(id)}
          </li>
        ))}
      </ul>
    </>
  );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** From the right side of one box to the left side of the other; a long line goes through the gaps the layout left for it. */
function curve(from: Point, to: Point, through: readonly Point[], { width, height }: DrawnProps["size"]): string {
  const start = { x: from.x + width, y: from.y + height / 2 };
  const end = { x: to.x, y: to.y + height / 2 };
  const inner = through.slice(1, -1).filter(({ x }) => x > start.x && x < end.x);
  let last = start;
  const bends = [...(inner.length > 1 ? inner : []), end].map((point) => {
    const middle = (last.x + point.x) / 2;
    const bend = `C${middle} ${last.y} ${middle} ${point.y} ${point.x} ${point.y}`;
    last = point;
    return bend;
  });
  return `M${start.x} ${start.y} ${bends.join(" ")}`;
}

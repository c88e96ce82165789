import { Card, Loaded } from "../parts/index.ts";
import { numberText } from "../language/number.ts";
import { words } from "../language/words.ts";
import { useAnswer } from "../resource.ts";
import { durationText } from "../time.ts";
import { type KindRow, percentilesText } from "./figures.ts";

const pictures = [
  { of: "waited", figures: "waitingMs", title: words.attempts.phases.wait },
  { of: "ran", figures: "runningMs", title: words.attempts.phases.run },
] as const;

/** How long the attempts of one kind waited and ran: how many took how long. */
export function KindHistograms(asked: Readonly<Record<"kind" | "lane" | "by", string>> & { readonly hours: number }) {
  const found = useAnswer(
    "GET /kind-figures",
    { ...asked, against: asked.hours, include: "spread" },
    { again: "slow" },
  );
  return (
    <Loaded of={found}>
      {({ kinds: [row] }) =>
        row === undefined ? null : (
          <div class="columns even">
            {pictures.map((each) => (
              <Histogram key={each.of} {...each} row={row} />
            ))}
          </div>
        )
      }
    </Loaded>
  );
}

type Picture = (typeof pictures)[number];

function Histogram({ row, of, figures, title }: Picture & { readonly row: KindRow }) {
  const steps = row.spread ?? [];
  const most = Math.max(4, ...steps.map((step) => step[of]));
  const spread = row.now[figures];
  const marks = new Map<number, string>();
  for (const name of ["p50", "p95", "p99"] as const) {
    const at = steps.findIndex(({ toMs }) => spread !== null && spread[name] <= toMs);
    marks.set(at, [marks.get(at) ?? "", name].join(" ").trim());
  }
  const rangeOf = (index: number): string =>
    `${durationText(steps[index]?.fromMs ?? 0)} – ${durationText(steps[index]?.toMs ?? 0)}`;
  const text = spread === null ? words.kinds.nothing : percentilesText(spread);
  return (
    <Card title={`${row.kind ?? row.lane}: ${title}`} about={text}>
      <div
        class="bars"
        role="img"
        aria-label={`${title}: ${text}. ${steps.map((step, at) => `${rangeOf(at)}: ${numberText(step[of])}`).join(", ")}`}
      >
        <span class="bars-most">{numberText(most)}</span>
        {steps.map((step, at) => (
          <i
            key={at}
            class={marks.has(at) ? "bar marked" : "bar"}
            title={`${rangeOf(at)}: ${words.kinds.attempts(step[of])}`}
            style={{ "--height": `${(step[of] / most) * 100}%` }}
          >
            <small>{marks.get(at)}</small>
          </i>
        ))}
      </div>
      <p class="line bars-ends">
        <span>{durationText(steps[0]?.fromMs ?? 0)}</span>
        <span class="space" />
        <span>{durationText(steps.at(-1)?.toMs ?? 0)}</span>
      </p>
    </Card>
  );
}

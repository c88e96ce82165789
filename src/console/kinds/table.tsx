import { type Column, column, DataTable, Link, Nothing, RowLink } from "../parts/index.ts";
import { addresses } from "../address.ts";
import { quote } from "../filter/terms.ts";
import {
  durationTrend,
  failedShare,
  type Figures,
  type KindRow,
  shareTrend,
  percentilesText,
  type Trend,
} from "./figures.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

interface KindTableProps {
  readonly rows: readonly KindRow[];
  /** Shows how a row's durations spread. */
  readonly spreadOf: (row: KindRow) => string;
}

/** Each kind with its figures of the period, and how they changed. */
export const KindTable = ({ rows, spreadOf: to }: KindTableProps) => (
  <div class="card">
    <DataTable
      label={words.places.kinds}
      look="tall stacks"
      columns={rows[0]?.kind === null ? [lane, ...figuresOf(to)] : [kindName, ...figuresOf(to)]}
      rows={rows}
      idOf={({ kind, lane: name }) => `${kind} ${name}`}
    />
  </div>
);

const lane = column.link<KindRow>(words.labels.lane, "lane", (row) => addresses.kindsWith({ lane: row.lane }), {
  class: "wide",
});

const kindName = column.text<KindRow>(words.labels.kind, "kind", {
  class: "wide",
  cell: ({ kind, lane: name }) => (
    <>
      <RowLink to={addresses.jobsWith(`kind:${quote(kind ?? "")}`)} text={kind} />
      <p class="dim small">{name}</p>
    </>
  ),
});

const durations = (name: string, of: "waitingMs" | "runningMs", to: KindTableProps["spreadOf"]): Column<KindRow> =>
  column.duration(name, ({ now }) => now[of]?.p95 ?? null, {
    class: "wide",
    cell: (row) => (
      <>
        {row.now[of] === null ? <Nothing /> : <Link to={to(row)} text={percentilesText(row.now[of])} />}
        <TrendText trend={durationTrend(row.now[of]?.p95, row.before[of]?.p95)} />
      </>
    ),
  });

const figuresOf = (to: KindTableProps["spreadOf"]): readonly Column<KindRow>[] => [
  column.number(words.labels.attempts, ({ now }) => now.ended, {
    cell: ({ now, before }) => (
      <>
        {numberText(now.ended)}
        <p class="dim small">{words.kinds.before(before.ended)}</p>
      </>
    ),
  }),
  column.number(words.states.FAILED, ({ now }) => failedShare(now), {
    cell: ({ kind, now, before }) => (
      <>
        <Failed kind={kind} now={now} />
        <TrendText trend={shareTrend(now, before)} />
      </>
    ),
  }),
  durations(words.kinds.waitingSpread, "waitingMs", to),
  durations(words.kinds.runningSpread, "runningMs", to),
];

function Failed({ kind, now }: { readonly kind: string | null; readonly now: Figures }) {
  const share = failedShare(now);
  const text = share === null ? "–" : `${Math.round(share * 1_000) / 10} %`;
  if (kind === null || now.failed === 0) return <>{text}</>;
  return <Link to={addresses.jobsWith(`state:failed,retry_wait kind:${quote(kind)}`)} text={text} />;
}

/** Word and sign say it as well as the colour. */
const TrendText = ({ trend }: { readonly trend: Trend | null }) => (
  <p class={`small trend ${trend?.tone ?? "same"}`}>{trend === null ? words.kinds.nothingBefore : trend.text}</p>
);

import { type Column, column, DataTable, Link, Nothing, RowLink } from "../parts/index.ts";
import { addresses } from "../address.ts";
import { quote } from "../filter/terms.ts";
import { durationText } from "../time.ts";
import { durationTrend, failedShare, type Figures, type KindRow, shareTrend, type Trend } from "./figures.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

/** Each kind with its figures of the period, and how they changed. */
export const KindTable = ({ rows }: { readonly rows: readonly KindRow[] }) => (
  <div class="card">
    <DataTable
      label={words.places.kinds}
      look="tall stacks kind-table"
      columns={rows[0]?.kind === null ? [lane, ...figures] : [kindName, ...figures]}
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

const spreadOf = (name: string, of: "waitingMs" | "runningMs"): Column<KindRow> =>
  column.duration(name, ({ now }) => now[of]?.p95 ?? null, {
    class: "wide",
    cell: ({ now, before }) => (
      <>
        <Spread of={now[of]} />
        <TrendText trend={durationTrend(now[of]?.p95, before[of]?.p95)} />
      </>
    ),
  });

const figures: readonly Column<KindRow>[] = [
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
  spreadOf(words.kinds.waitingSpread, "waitingMs"),
  spreadOf(words.kinds.runningSpread, "runningMs"),
];

function Failed({ kind, now }: { readonly kind: string | null; readonly now: Figures }) {
  const share = failedShare(now);
  const text = share === null ? "–" : `${Math.round(share * 1_000) / 10} %`;
  if (kind === null || now.failed === 0) return <>{text}</>;
  return <Link to={addresses.jobsWith(`state:failed,retry_wait kind:${quote(kind)}`)} text={text} />;
}

function Spread({ of }: { readonly of: Figures["runningMs"] }) {
  if (of === null) return <Nothing />;
  return (
    <span class="spread">
      {durationText(of.p50)} · <strong>{durationText(of.p95)}</strong> · {durationText(of.p99)}
    </span>
  );
}

/** Word and sign say it as well as the colour. */
const TrendText = ({ trend }: { readonly trend: Trend | null }) => (
  <p class={`small trend ${trend?.tone ?? "same"}`}>{trend === null ? words.kinds.nothingBefore : trend.text}</p>
);

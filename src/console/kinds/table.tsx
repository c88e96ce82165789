import { addresses } from "../address.ts";
import { quote } from "../filter/terms.ts";
import { TableHead } from "../parts/table-head.tsx";
import { durationText } from "../time.ts";
import { durationTrend, failedShare, type Figures, type KindRow, shareTrend, type Trend } from "./figures.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

const number = (name: string) => ({ name, isNumber: true });

/** Each kind with its figures of the period, and how they changed. */
export const KindTable = ({ rows }: { readonly rows: readonly KindRow[] }) => (
  <div class="card">
    <table class="table tall stacks kind-table">
      <TableHead
        columns={[
          rows[0]?.kind === null ? words.labels.lane : words.labels.kind,
          number(words.labels.attempts),
          number(words.labels.failed),
          number(words.kinds.waitingSpread),
          number(words.kinds.runningSpread),
        ]}
      />
      <tbody>
        {rows.map((row) => (
          <Row key={`${row.kind} ${row.lane}`} row={row} />
        ))}
      </tbody>
    </table>
  </div>
);

const Row = ({ row: { kind, lane, now, before } }: { readonly row: KindRow }) => (
  <tr>
    <td class="wide">
      {kind === null ? (
        <a class="row-link" href={addresses.kindsWith({ lane })}>
          {lane}
        </a>
      ) : (
        <>
          <a class="row-link" href={addresses.jobsWith(`kind:${quote(kind)}`)}>
            {kind}
          </a>
          <p class="dim small">{lane}</p>
        </>
      )}
    </td>
    <td class="number" data-label={words.labels.attempts}>
      {numberText(now.ended)}
      <p class="dim small">{words.kinds.before(before.ended)}</p>
    </td>
    <td class="number" data-label={words.labels.failed}>
      <Failed kind={kind} now={now} />
      <TrendText trend={shareTrend(now, before)} />
    </td>
    <td class="number wide" data-label={words.kinds.waiting}>
      <Spread of={now.waitingMs} />
      <TrendText trend={durationTrend(now.waitingMs?.p95, before.waitingMs?.p95)} />
    </td>
    <td class="number wide" data-label={words.kinds.running}>
      <Spread of={now.runningMs} />
      <TrendText trend={durationTrend(now.runningMs?.p95, before.runningMs?.p95)} />
    </td>
  </tr>
);

function Failed({ kind, now }: { readonly kind: string | null; readonly now: Figures }) {
  const share = failedShare(now);
  const text = share === null ? "–" : `${Math.round(share * 1_000) / 10} %`;
  if (kind === null || now.failed === 0) return <>{text}</>;
  return (
    <a class="link" href={addresses.jobsWith(`state:failed,retry_wait kind:${quote(kind)}`)}>
      {text}
    </a>
  );
}

function Spread({ of }: { readonly of: Figures["runningMs"] }) {
  if (of === null) return <span class="nothing">–</span>;
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

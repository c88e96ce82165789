import {
  Axis,
  Button,
  Card,
  type Column,
  DataTable,
  linesOf,
  Loaded,
  Picture,
  RowLink,
  type TimeScale,
  Tabs,
  Time,
} from "../parts/index.ts";
import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { ask } from "../http.ts";
import { RangePicker } from "../filter/range-picker.tsx";
import { edgesOf, isoTime, writtenEdges } from "../filter/range.ts";
import { numberText } from "../language/number.ts";
import { useResource } from "../resource.ts";
import type { NightReply } from "../../insight/night.ts";
import { BarLine, countOf, hrefOf, type NightRow } from "./night-bars.tsx";
import { words } from "../language/words.ts";

const rowsShown = 10;
const groupings = (["schedule", "kind", "lane"] as const).map((value) => ({ value, name: words.labels[value] }));

const nightMaxMs = 168 * 3_600_000;

/** What the address asks for; without it from the last evening on. Neither what is to come nor what is too long ago. */
function spanOf(range: string): TimeScale {
  const now = currentTime();
  const [from, to] = writtenEdges("night", range, now) ?? [edgesOf("last-night", now)?.[0] ?? null, null];
  const until = Math.min(to ?? now, now);
  if (from !== null && from >= until) throw new Error(words.night.toCome);
  return { from: Math.max(from ?? until - 86_400_000, until - nightMaxMs), to: until };
}

interface Shown extends NightReply {
  /** When each deployment was, the oldest first. */
  readonly releases: readonly string[];
}

/** The night on one scale of time: each run a bar, what failed first. */
export function Night() {
  const { query, route } = useLocation();
  const [isWhole, setWhole] = useState(false);
  const { by = "schedule", range = "" } = query;
  const load = async (signal: AbortSignal): Promise<Shown> => {
    const { from, to } = spanOf(range);
    const between = { createdFrom: isoTime(from), createdTo: isoTime(to) };
    // Who may see only some kinds sees no deployments.
    const [night, { audits }] = await Promise.all([
      ask("GET /night", { from: isoTime(from), to: isoTime(to), by }, { signal }),
      ask("GET /audits", { caller: "deployment", ...between }, { signal }).catch(() => ({ audits: [] })),
    ]);
    return { ...night, releases: audits.map(({ at }) => at).toReversed() };
  };
  const found = useResource(`night ${by} ${range}`, load, { again: "slow" });
  const go = (fields: Readonly<Record<string, string>>): void =>
    route(`${addresses.overview}?${new URLSearchParams({ by, range, ...fields })}`, true);
  return (
    <Card
      title={words.night.title}
      about={
        <>
          <RangePicker of="night" value={range} onRange={(value) => go({ range: value })} />
          <span class="space" />
          <Tabs label={words.kinds.group} among={groupings} value={by} onChoose={(value) => go({ by: value })} />
        </>
      }
    >
      <Loaded of={found}>
        {(night) => (
          <>
            <Rows {...night} rows={isWhole ? night.rows : night.rows.slice(0, rowsShown)} />
            {isWhole || night.rows.length <= rowsShown ? null : (
              <Button text={words.night.all(night.rows.length)} look="small" onClick={() => setWhole(true)} />
            )}
            {night.isMore ? <p class="card-empty">{words.night.isMore}</p> : null}
          </>
        )}
      </Loaded>
    </Card>
  );
}

function Rows({ from, to, by, releases, rows }: Shown) {
  const span = { from: Date.parse(from), to: Date.parse(to) };
  const most = Math.max(
    1,
    ...rows.flatMap((row) => row.cells.map((cell) => countOf({ ...row, bars: [], cells: [cell] }))),
  );
  const drawn = { by, span, most };
  const columns: readonly Column<NightRow>[] = [
    {
      name: words.labels[by],
      width: "minmax(90px, 190px)",
      cell: ({ id }) => <RowLink to={hrefOf(by, id)} text={id} />,
    },
    {
      name: <Axis span={span} />,
      width: "minmax(0, 1fr)",
      class: "gantt",
      cell: (row) => <BarLine {...{ row, drawn }} />,
    },
    {
      name: words.states.FAILED,
      width: "104px",
      isNumber: true,
      class: (row) => (countOf(row, ["failed"]) > 0 ? "error-code" : "dim"),
      cell: failedText,
    },
  ];
  return (
    <Picture look="night" how={rows.length === 0 ? "" : words.night.how} style={{ "--ticks": linesOf(span, releases) }}>
      <DataTable label={words.night.title} none={words.night.none} {...{ columns, rows }} idOf={({ id }) => id} />
      {releases.length === 0 ? null : <Releases at={releases} />}
    </Picture>
  );
}

const releasesShown = 3;

/** The coloured lines in words, each with what it changed. */
const Releases = ({ at }: { readonly at: readonly string[] }) => (
  <p class="form-lead">
    {words.night.releases}
    {at.slice(-releasesShown).map((each) => [
      <a key={each} class="link" href={addresses.activityOf({ caller: "deployment", created: `${each}..` })}>
        <Time at={each} />
      </a>,
      " ",
    ])}
  </p>
);

const failedText = (row: NightRow): string => `${numberText(countOf(row, ["failed"]))} / ${numberText(countOf(row))}`;

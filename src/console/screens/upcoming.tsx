import { useLocation } from "preact-iso";
import { addresses } from "../address.ts";
import { loadUpcoming } from "../client.ts";
import { currentTime } from "../clock.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Tag } from "../parts/tag.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../resource.ts";
import type { UpcomingReply } from "../../api/shape/upcoming.ts";
import { durationText, relative } from "../time.ts";
import { useTitle } from "../title.ts";
import { numberText } from "../language/number.ts";
import { words } from "../language/words.ts";

const spans = [
  { value: "1", name: words.upcoming.spans[1] },
  { value: "6", name: words.upcoming.spans[6] },
  { value: "24", name: words.upcoming.spans[24] },
] as const;

/** What all schedules will start, on one time line. */
export function UpcomingScreen() {
  const { query, path, route } = useLocation();
  const hours = spans.find(({ value }) => value === query["hours"])?.value ?? "1";
  useTitle(words.places.upcoming);
  const { app = "", lane = "" } = query;
  const asked = { hours: Number(hours), app, lane };
  const coming = useResource(JSON.stringify(asked), (signal) => loadUpcoming(asked, signal), { again: "slow" });
  const go = (fields: Readonly<Record<string, string>>): void =>
    route(`${path}?${new URLSearchParams({ hours, app, lane, ...fields })}`);
  return (
    <>
      <header class="screen-head">
        <h1>{words.places.upcoming}</h1>
        <Tabs label={words.shared.span} among={spans} value={hours} onChoose={(value) => go({ hours: value })} />
        <Choice
          name={words.upcoming.app}
          all={words.upcoming.allApps}
          among={coming.data?.apps ?? []}
          value={app}
          onChoose={(value) => go({ app: value })}
        />
        <Choice
          name={words.labels.lane}
          all={words.upcoming.allLanes}
          among={coming.data?.lanes.map((each) => each.lane) ?? []}
          value={lane}
          onChoose={(value) => go({ lane: value })}
        />
      </header>
      <Loaded of={coming}>
        {(found) =>
          found.times.length === 0 ? (
            <Empty title={words.upcoming.nothing}>
              <p>{words.upcoming.longer}</p>
            </Empty>
          ) : (
            <>
              <TimeLine found={found} />
              <LoadTable lanes={found.lanes} onLane={(value) => go({ lane: value })} />
              <ComingTable found={found} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly all: string;
  readonly among: readonly string[];
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

/** One of some names, or all; the chosen one stays in the list also where nothing of it comes up. */
const Choice = ({ name, all, among, value, onChoose }: ChoiceProps) => (
  <select
    class="select"
    aria-label={name}
    value={value}
    onChange={({ currentTarget }) => onChoose(currentTarget.value)}
  >
    <option value="">{all}</option>
    {[...new Set([...among, value])]
      .filter((each) => each !== "")
      .map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
  </select>
);

/** How many start in each sixtieth of the span. */
function TimeLine({ found: { from, to, parts, isMore } }: { readonly found: UpcomingReply }) {
  const most = Math.max(1, ...parts);
  const total = parts.reduce((sum, part) => sum + part, 0);
  const partText = durationText((Date.parse(to) - Date.parse(from)) / Math.max(1, parts.length));
  return (
    <section class="card" aria-label={words.upcoming.timeLine}>
      <header class="card-head">
        <h2>{words.upcoming.times(total, isMore)}</h2>
        <span class="dim">{words.upcoming.busiest(most, partText)}</span>
      </header>
      <div class="time-line" role="img" aria-label={words.upcoming.describe(total, most)}>
        {parts.map((part, index) => (
          <i key={index} style={{ height: `${(part / most) * 100}%` }} title={words.many.time(part)} />
        ))}
      </div>
      <p class="time-line-scale">
        <Time at={from} />
        <Time at={to} />
      </p>
    </section>
  );
}

const names = { ...words.labels, ...words.upcoming.columns };

const ComingTable = ({ found: { times } }: { readonly found: UpcomingReply }) => (
  <div class="card">
    <table class="table tall stacks">
      <TableHead columns={[names.at, names.in, names.schedule, names.kind, names.lane, names.risk]} />
      <tbody>
        {times.map((each) => (
          <tr key={`${each.schedule} ${each.at}`}>
            <td>
              <Time at={each.at} zone={each.timezone} />
            </td>
            <td class="dim">{relative(Date.parse(each.at) - currentTime())}</td>
            <td>
              <a class="row-link" href={addresses.schedule(each.schedule)}>
                {each.schedule}
              </a>
            </td>
            <td class="dim">{each.kind}</td>
            <td class="dim">{each.lane}</td>
            <td class="wide">
              <Risk of={each} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

function Risk({ of }: { readonly of: UpcomingReply["times"][number] }) {
  if (of.paused) return <Tag icon="pause" tone="warn" text={words.upcoming.paused} />;
  if (of.capped) return <Tag icon="warning" tone="warn" text={words.upcoming.capped} />;
  return of.mayOverlap ? <Tag icon="warning" tone="warn" text={words.upcoming.mayOverlap} /> : null;
}

const loadColumns = { ...words.labels, ...words.upcoming.loadColumns };

interface LoadTableProps {
  readonly lanes: UpcomingReply["lanes"];
  readonly onLane: (lane: string) => void;
}

/** What each lane is expected to work, beside what it can. */
const LoadTable = ({ lanes, onLane }: LoadTableProps) => (
  <section class="card" aria-label={words.upcoming.load}>
    <header class="card-head">
      <h2>{words.upcoming.load}</h2>
    </header>
    <table class="table stacks">
      <TableHead
        columns={[loadColumns.lane, loadColumns.times, loadColumns.work, loadColumns.share, loadColumns.busiest]}
      />
      <tbody>
        {lanes.map(({ lane, times, unknown, expectedMs, capacityMs, busiest }) => (
          <tr key={lane}>
            <td>
              <button type="button" class="button small" onClick={() => onLane(lane)}>
                {lane}
              </button>
            </td>
            <td data-label={loadColumns.times}>{numberText(times)}</td>
            <td data-label={loadColumns.work}>
              {durationText(expectedMs)}
              {unknown === 0 ? null : <span class="dim small">{` ${words.upcoming.unknown(unknown)}`}</span>}
            </td>
            <td data-label={loadColumns.share}>
              {capacityMs === null ? "–" : `${Math.round((expectedMs / Math.max(1, capacityMs)) * 1_000) / 10} %`}
            </td>
            <td data-label={loadColumns.busiest}>
              {busiest === null ? (
                "–"
              ) : (
                <>
                  <Time at={busiest.at} /> {`${Math.round(busiest.share * 100)} %`}
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

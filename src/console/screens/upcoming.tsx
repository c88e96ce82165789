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
import type { ShownUpcoming } from "../shape.ts";
import { relative } from "../time.ts";
import { useTitle } from "../title.ts";
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
  useTitle(words.upcoming.title);
  const coming = useResource(`upcoming ${hours}`, (signal) => loadUpcoming(Number(hours), signal), { again: "slow" });
  return (
    <>
      <header class="screen-head">
        <h1>{words.upcoming.title}</h1>
        <Tabs
          label={words.shared.span}
          among={spans}
          value={hours}
          onChoose={(value) => route(`${path}?hours=${value}`)}
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
              <ComingTable found={found} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

/** How many start in each sixtieth of the span. */
function TimeLine({ found: { from, to, parts, isMore } }: { readonly found: ShownUpcoming }) {
  const most = Math.max(1, ...parts);
  const total = parts.reduce((sum, part) => sum + part, 0);
  return (
    <section class="card" aria-label={words.upcoming.timeLine}>
      <header class="card-head">
        <h2>{words.upcoming.times(total, isMore)}</h2>
        <span class="dim">{words.upcoming.busiest(most)}</span>
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

const { columns: names } = words.upcoming;

const ComingTable = ({ found: { times } }: { readonly found: ShownUpcoming }) => (
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

function Risk({ of }: { readonly of: ShownUpcoming["times"][number] }) {
  if (of.paused) return <Tag icon="pause" tone="warn" text={words.upcoming.paused} />;
  return of.mayOverlap ? <Tag icon="warning" tone="warn" text={words.upcoming.mayOverlap} /> : null;
}

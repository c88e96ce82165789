import {
  Axis,
  Bars,
  Button,
  Card,
  type Column,
  column,
  Empty,
  Loaded,
  Nothing,
  ScreenHead,
  Select,
  TableCard,
  Tabs,
  Tag,
  Time,
} from "../parts/index.ts";
import { useLocation } from "preact-iso";
import { quote } from "../filter/terms.ts";
import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { useAnswer } from "../resource.ts";
import type { UpcomingReply } from "../../api/shape/upcoming.ts";
import { durationText, relative } from "../time.ts";
import { words } from "../language/words.ts";

const spans = ([1, 6, 24] as const).map((hours) => ({ value: String(hours), name: words.upcoming.spans[hours] }));

/** The nominal time of one that is spread. */
const SpreadFrom = (time: { readonly at: string; readonly zone: string }) => (
  <span class="dim small">
    {` ${words.upcoming.spreadFrom} `}
    <Time {...time} />
  </span>
);

/** What all schedules will start, on one time line. */
export function UpcomingScreen() {
  const { query, path, route } = useLocation();
  const hours = spans.find(({ value }) => value === query["hours"])?.value ?? "1";
  const { app = "", lane = "" } = query;
  const asked = { hours: Number(hours), app, lane };
  const coming = useAnswer("GET /upcoming", asked, { again: "slow" });
  const go = (fields: Readonly<Record<string, string>>): void =>
    route(`${path}?${new URLSearchParams({ hours, app, lane, ...fields })}`);
  return (
    <>
      <ScreenHead title={words.places.upcoming}>
        <Tabs label={words.shared.span} among={spans} value={hours} onChoose={(value) => go({ hours: value })} />
        <Select
          label={words.upcoming.app}
          of={choicesOf(words.upcoming.allApps, coming.data?.apps, app)}
          value={app}
          onChoose={(value) => go({ app: value })}
        />
        <Select
          label={words.labels.lane}
          of={choicesOf(
            words.upcoming.allLanes,
            coming.data?.lanes.map((each) => each.lane),
            lane,
          )}
          value={lane}
          onChoose={(value) => go({ lane: value })}
        />
      </ScreenHead>
      <Loaded of={coming}>
        {(found) =>
          found.times.length + found.jobs.length === 0 ? (
            <Empty title={words.upcoming.nothing} text={words.upcoming.longer} />
          ) : (
            <>
              <TimeLine found={found} />
              <TableCard
                title={words.upcoming.load}
                look="stacks"
                columns={loadColumnsOf((value) => go({ lane: value }))}
                rows={found.lanes}
                idOf={({ lane: name }) => name}
              />
              {found.jobs.length === 0 ? null : (
                <TableCard
                  title={words.upcoming.due}
                  about={words.upcoming.dueAbout}
                  look="stacks"
                  columns={dueColumns}
                  rows={found.jobs}
                  idOf={(due) => `${due.schedule} ${due.kind} ${due.lane}`}
                />
              )}
              <TableCard
                title={words.upcoming.timeLine}
                look="tall stacks"
                columns={comingColumns}
                rows={found.times}
                idOf={({ schedule, at }) => `${schedule} ${at}`}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}

/** One of some names, or all; the chosen one stays in the list also where nothing of it comes up. */
const choicesOf = (all: string, among: readonly string[] = [], value: string) =>
  ["", ...new Set([...among, value].filter((each) => each !== ""))].map((each) => [each, each || all] as const);

/** How many start in each sixtieth of the span. */
function TimeLine({ found: { from, to, parts, isMore } }: { readonly found: UpcomingReply }) {
  const most = Math.max(1, ...parts);
  const span = { from: Date.parse(from), to: Date.parse(to) };
  const total = parts.reduce((sum, part) => sum + part, 0);
  const about = words.upcoming.busiest(most, durationText((span.to - span.from) / Math.max(1, parts.length)));
  return (
    <Card title={words.upcoming.times(total, isMore)} label={words.upcoming.timeLine} about={about}>
      <Bars
        label={words.upcoming.describe(total, most)}
        values={parts}
        titleOf={(value) => words.many.time(value)}
        axis={<Axis span={span} />}
      />
    </Card>
  );
}

const names = { ...words.labels, ...words.upcoming.columns };

type Coming = UpcomingReply["times"][number];

const comingColumns: readonly Column<Coming>[] = [
  column.time(names.at, "at", {
    isNamed: false,
    cell: ({ at, nominalAt, timezone }) => (
      <>
        <Time at={at} zone={timezone} />
        {at === nominalAt ? null : <SpreadFrom at={nominalAt} zone={timezone} />}
      </>
    ),
  }),
  { name: names.in, class: "dim", cell: ({ at }) => relative(Date.parse(at) - currentTime()) },
  column.link(names.schedule, "schedule", ({ schedule }) => addresses.schedule(schedule)),
  column.text(names.kind, "kind", { class: "dim" }),
  column.text(names.lane, "lane", { class: "dim" }),
  { name: names.risk, class: "wide", cell: (each) => <Risk of={each} /> },
];

type Due = UpcomingReply["jobs"][number];

const dueColumns: readonly Column<Due>[] = [
  column.number(words.places.jobs, "jobs"),
  column.link(names.schedule, "schedule", ({ schedule }) => addresses.schedule(schedule ?? "")),
  column.link(names.kind, "kind", ({ kind, lane }) => dueJobs(kind, lane)),
  column.text(names.lane, "lane", { class: "dim" }),
  column.time(words.upcoming.firstDue, "firstAt"),
  column.time(words.upcoming.lastDue, "lastAt"),
];

const dueJobs = (kind: string, lane: string): string =>
  addresses.jobsWith(`state:pending,queued,retry_wait due:>0s kind:${quote(kind)} lane:${quote(lane)}`);

function Risk({ of }: { readonly of: Coming }) {
  if (of.paused) return <Tag icon="pause" tone="warn" text={words.upcoming.paused} />;
  if (of.capped) return <Tag icon="warning" tone="warn" text={words.upcoming.capped} />;
  return of.mayOverlap ? <Tag icon="warning" tone="warn" text={words.upcoming.mayOverlap} /> : null;
}

const loadColumns = { ...words.labels, ...words.upcoming.loadColumns };

type Load = UpcomingReply["lanes"][number];

const loadColumnsOf = (onLane: (lane: string) => void): readonly Column<Load>[] => [
  {
    name: loadColumns.lane,
    by: ({ lane }) => lane,
    cell: ({ lane }) => <Button text={lane} look="small" onClick={() => onLane(lane)} />,
  },
  column.number(loadColumns.times, "times", { isNumber: false }),
  column.number(words.places.jobs, "jobs", { isNumber: false }),
  {
    name: loadColumns.work,
    isNamed: true,
    by: ({ expectedMs }) => expectedMs,
    cell: ({ expectedMs, unknown }) => (
      <>
        {durationText(expectedMs)}
        {unknown === 0 ? null : <span class="dim small">{` ${words.upcoming.unknown(unknown)}`}</span>}
      </>
    ),
  },
  {
    name: loadColumns.share,
    isNamed: true,
    cell: ({ expectedMs, capacityMs }) =>
      capacityMs === null ? <Nothing /> : `${Math.round((expectedMs / Math.max(1, capacityMs)) * 1_000) / 10} %`,
  },
  {
    name: loadColumns.busiest,
    isNamed: true,
    cell: ({ busiest }) =>
      busiest === null ? (
        <Nothing />
      ) : (
        <>
          <Time at={busiest.at} /> {`${Math.round(busiest.share * 100)} %`}
        </>
      ),
  },
];

import {
  Button,
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
import { LoadToCome } from "../lanes/load-to-come.tsx";
import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { useAnswer } from "../resource.ts";
import type { UpcomingReply } from "../../api/shape/upcoming.ts";
import { durationText, relative } from "../time.ts";
import { words } from "../language/words.ts";

const spans = ([1, 6, 24] as const).map((hours) => ({ value: String(hours), name: words.upcoming.spans[hours] }));

/** What all schedules will start, on one time line. */
export function UpcomingScreen() {
  const { query, path, route } = useLocation();
  const hours = spans.find(({ value }) => value === query["hours"])?.value ?? "1";
  const { app = "", lane = "", at = "" } = query;
  const asked = { hours: Number(hours), app, lane };
  const coming = useAnswer("GET /upcoming", asked, { again: "slow" });
  const linkTo = (fields: Readonly<Record<string, string>>): string =>
    `${path}?${new URLSearchParams({ hours, app, lane, ...fields })}`;
  const go = (fields: Parameters<typeof linkTo>[0]): void => route(linkTo(fields));
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
              <LoadToCome found={found} linkTo={(from) => linkTo({ at: from })} />
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
                about={at === "" ? null : <Button text={words.upcoming.all} look="small" onClick={() => go({})} />}
                none={words.upcoming.notListed}
                look="tall stacks"
                columns={comingColumns}
                rows={at === "" ? found.times : startingIn(found, at)}
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

/** Those of the part of the span that begins then. */
function startingIn({ times, parts, ...span }: UpcomingReply, from: string): UpcomingReply["times"] {
  const partMs = (Date.parse(span.to) - Date.parse(span.from)) / parts.length;
  return times.filter(({ at }) => at >= from && Date.parse(at) < Date.parse(from) + partMs);
}

const names = { ...words.labels, ...words.upcoming.columns };

type Coming = UpcomingReply["times"][number];

const comingColumns: readonly Column<Coming>[] = [
  column.time(names.at, "at", {
    isNamed: false,
    cell: ({ at, nominalAt, timezone }) => (
      <>
        <Time at={at} zone={timezone} />
        {at === nominalAt ? null : (
          <span class="dim small">
            {` ${words.upcoming.spreadFrom} `}
            <Time at={nominalAt} zone={timezone} />
          </span>
        )}
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

type Load = UpcomingReply["lanes"][number];

const loadColumnsOf = (onLane: (lane: string) => void): readonly Column<Load>[] => [
  {
    name: names.lane,
    by: ({ lane }) => lane,
    cell: ({ lane }) => <Button text={lane} look="small" onClick={() => onLane(lane)} />,
  },
  column.number(names.times, "times", { isNumber: false }),
  column.number(words.places.jobs, "jobs", { isNumber: false }),
  {
    name: names.work,
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
    name: names.share,
    isNamed: true,
    cell: ({ expectedMs, capacityMs }) =>
      capacityMs === null ? <Nothing /> : `${Math.round((expectedMs / Math.max(1, capacityMs)) * 1_000) / 10} %`,
  },
];

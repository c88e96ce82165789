import { Button, Empty, Loaded, ScreenHead, Select, Tabs, Time } from "../parts/index.ts";
import { useLocation } from "preact-iso";
import { addresses } from "../address.ts";
import { CostCard } from "../kinds/costs.tsx";
import { slowestFirst } from "../kinds/figures.ts";
import { KindHistograms } from "../kinds/spread.tsx";
import { KindTable } from "../kinds/table.tsx";
import { useAnswer } from "../resource.ts";
import type { KindFigureListReply } from "../../insight/kind-figures.ts";
import { words } from "../language/words.ts";

const named = <T extends string>(values: readonly T[], names: Readonly<Record<T, string>>) =>
  values.map((value) => ({ value, name: names[value] }));

const periods = named(["24", "168", "720"] as const, words.kinds.periods);
const groupings = named(["kind", "lane"] as const, words.kinds.groups);

/** Hours between the two periods; none: as many as the period has. */
const comparisons = ["", "24", "168", "672"] as const;

/** How each kind does: how often it fails, how long it waits and runs, beside an earlier period. */
export function KindsScreen() {
  const { query, route } = useLocation();
  const hours = periods.find(({ value }) => value === query["hours"])?.value ?? "168";
  const by = groupings.find(({ value }) => value === query["by"])?.value ?? "kind";
  const against = comparisons.find((value) => value === query["against"]) ?? "";
  const { lane = "", of = "", at = "" } = query;
  const asked = { hours: Number(hours), against: Number(against === "" ? hours : against), by, lane };
  const found = useAnswer("GET /kind-figures", asked, { again: "slow" });
  const linkTo = (field: Readonly<Record<string, string>>): string =>
    addresses.kindsWith({ hours, by, against, lane, ...field });
  const go = (field: Readonly<Record<string, string>>): void => route(linkTo(field), true);
  return (
    <>
      <ScreenHead title={words.places.kinds}>
        <Tabs label={words.kinds.period} among={periods} value={hours} onChoose={(value) => go({ hours: value })} />
        <Tabs label={words.kinds.group} among={groupings} value={by} onChoose={(value) => go({ by: value })} />
        <Select
          label={words.kinds.compared}
          of={comparisons.map((value) => [value, words.kinds.against[value]] as const)}
          value={against}
          onChoose={(value) => go({ against: value })}
        />
        {lane === "" ? null : (
          <Button text={words.kinds.allLanes(lane)} look="small" onClick={() => go({ lane: "" })} />
        )}
      </ScreenHead>
      {at === "" ? null : <KindHistograms kind={of} lane={at} by={by} hours={Number(hours)} />}
      <Loaded of={found}>
        {(figures) => <Figures figures={figures} spreadOf={(row) => linkTo({ of: row.kind ?? "", at: row.lane })} />}
      </Loaded>
      <CostCard />
    </>
  );
}

interface FiguresProps extends Pick<Parameters<typeof KindTable>[0], "spreadOf"> {
  readonly figures: KindFigureListReply;
}

const Figures = ({ figures, spreadOf }: FiguresProps) =>
  figures.kinds.length === 0 ? (
    <Empty title={words.kinds.nothing} text={words.kinds.byTheHour} />
  ) : (
    <>
      <p class="dim small">
        {words.kinds.periodsShown(
          <Time at={figures.period.from} />,
          <Time at={figures.period.to} />,
          <Time at={figures.before.from} />,
          <Time at={figures.before.to} />,
        )}
        {figures.isMore ? words.kinds.isMore : null}
      </p>
      <KindTable rows={slowestFirst(figures.kinds)} spreadOf={spreadOf} />
    </>
  );

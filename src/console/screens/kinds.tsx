import { useLocation } from "preact-iso";
import { addresses } from "../address.ts";
import { loadKindFigures } from "../client.ts";
import { type KindSort, kindSorts, sorted } from "../kinds/figures.ts";
import { KindTable } from "../kinds/table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../resource.ts";
import type { ShownKindFigures } from "../shape.ts";
import { useTitle } from "../title.ts";

const periods = [
  { value: "24", name: "24 hours" },
  { value: "168", name: "7 days" },
  { value: "720", name: "30 days" },
] as const;

const groupings = [
  { value: "kind", name: "By kind" },
  { value: "lane", name: "By lane" },
] as const;

const sortWords: Readonly<Record<KindSort, string>> = {
  slow: "Slowest first",
  failing: "Most failing first",
  waiting: "Longest waiting first",
};

/** Hours between the two periods; null for as long as the period is. */
const comparisons = [
  { value: "", name: "the period before", hours: null },
  { value: "24", name: "a day earlier", hours: 24 },
  { value: "168", name: "a week earlier", hours: 168 },
  { value: "672", name: "four weeks earlier", hours: 672 },
] as const;

/** How each kind does: how often it fails, how long it waits and runs, beside an earlier period. */
export function KindsScreen() {
  const { query, route } = useLocation();
  useTitle("Kinds");
  const hours = periods.find(({ value }) => value === query["hours"])?.value ?? "168";
  const by = groupings.find(({ value }) => value === query["by"])?.value ?? "kind";
  const sort = kindSorts.find((each) => each === query["sort"]) ?? "slow";
  const against = comparisons.find(({ value }) => value === query["against"]) ?? comparisons[0];
  const lane = query["lane"] ?? "";
  const asked = { hours: Number(hours), against: against.hours ?? Number(hours), by, lane };
  const found = useResource(JSON.stringify(asked), (signal) => loadKindFigures(asked, signal), { again: "slow" });
  const go = (field: Readonly<Record<string, string>>): void =>
    route(addresses.kindsWith({ hours, by, sort, against: against.value, lane, ...field }), true);
  return (
    <>
      <header class="screen-head">
        <h1>Kinds</h1>
        <Tabs label="Period" among={periods} value={hours} onChoose={(value) => go({ hours: value })} />
        <Tabs label="Group" among={groupings} value={by} onChoose={(value) => go({ by: value })} />
        <label class="compare">
          <span class="dim">Compared with</span>
          <select
            value={against.value}
            onChange={({ currentTarget }) => go({ against: currentTarget.value })}
            class="select"
          >
            {comparisons.map(({ value, name }) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </header>
      <div class="screen-head">
        <Tabs
          label="Order"
          among={kindSorts.map((value) => ({ value, name: sortWords[value] }))}
          value={sort}
          onChoose={(value) => go({ sort: value })}
        />
        {lane === "" ? null : (
          <button type="button" class="button small" onClick={() => go({ lane: "" })}>
            {`Lane ${lane}: show all`}
          </button>
        )}
      </div>
      <Loaded of={found}>{(figures) => <Figures figures={figures} sort={sort} />}</Loaded>
    </>
  );
}

const Figures = ({ figures, sort }: { readonly figures: ShownKindFigures; readonly sort: KindSort }) =>
  figures.kinds.length === 0 ? (
    <Empty title="Nothing ran in either period">
      <p>Figures are counted by the hour and kept for 90 days. Choose a longer period.</p>
    </Empty>
  ) : (
    <>
      <p class="dim small">
        <Time at={figures.period.from} /> to <Time at={figures.period.to} />, compared with{" "}
        <Time at={figures.before.from} /> to <Time at={figures.before.to} />
        {figures.isMore ? ". There are more kinds than are read: choose a lane." : null}
      </p>
      <KindTable rows={sorted(figures.kinds, sort)} />
    </>
  );

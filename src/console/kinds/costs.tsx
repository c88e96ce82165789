import { useRef, useState } from "preact/hooks";
import type { Costs } from "../../insight/costs.ts";
import { words } from "../language/words.ts";
import { column, TableCard, Tabs } from "../parts/index.ts";
import { useAnswer } from "../resource.ts";

type Row = Pick<Costs["groups"][number], "name" | "attempts" | "usd">;

const groupings = (["kind", "schedule", "key"] as const).map((value) => ({ value, name: words.labels[value] }));

/** What each kind, schedule or key cost this month, by list prices. A refusal leaves the card out, or as it was: the screen is about other figures. */
export function CostCard() {
  const [by, setBy] = useState<Costs["by"]>("kind");
  const { data, error } = useAnswer("GET /costs", { by }, { again: "never" });
  // Kept while another grouping is asked for: the button that has the focus stays.
  const last = useRef(data);
  last.current = data ?? last.current;
  if (last.current === null || last.current.total.attempts === 0) return null;
  const { from, total, groups, others, leftOut } = last.current;
  const rows = others === null ? groups : [...groups, { ...others, name: words.kinds.unlisted }];
  return (
    <>
      <TableCard
        title={words.kinds.costs}
        about={
          <>
            <span class="dim">{words.kinds.costsSince(from, total.usd.total.toFixed(2))}</span>
            <Tabs
              label={words.kinds.group}
              among={groupings}
              value={error === null ? by : last.current.by}
              onChoose={setBy}
            />
          </>
        }
        columns={columnsBy[last.current.by]}
        rows={rows}
        idOf={({ name }) => name}
      />
      <p class="dim small">{words.kinds.leftOut(leftOut.join("; "))}</p>
    </>
  );
}

const columnsOf = (by: Costs["by"]) => [
  column.text<Row>(words.labels[by], ({ name }) => name || words.kinds.unnamed[by], { class: "wide" }),
  column.number<Row>(words.labels.attempts, "attempts"),
  column.number<Row>("USD", ({ usd }) => usd.total, { cell: ({ usd }) => usd.total.toFixed(4) }),
];
const columnsBy = { kind: columnsOf("kind"), schedule: columnsOf("schedule"), key: columnsOf("key") };

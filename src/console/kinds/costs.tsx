import type { Costs } from "../../insight/costs.ts";
import { words } from "../language/words.ts";
import { column, TableCard } from "../parts/index.ts";
import { useAnswer } from "../resource.ts";

type Row = Costs["groups"][number];

/** What each kind cost this month, by list prices. A refusal leaves the card out: the screen is about other figures. */
export function CostCard() {
  const { data } = useAnswer("GET /costs", { by: "kind" }, { again: "never" });
  if (data === null || data.groups.length === 0) return null;
  const { from, total, leftOut } = data;
  return (
    <>
      <TableCard
        title={words.kinds.costs}
        about={words.kinds.costsSince(from, total.usd.total.toFixed(2))}
        columns={columns}
        rows={data.groups}
        idOf={({ name }) => name}
      />
      <p class="dim small">{words.kinds.leftOut(leftOut.join("; "))}</p>
    </>
  );
}

const columns = [
  column.text<Row>(words.labels.kind, "name", { class: "wide" }),
  column.number<Row>(words.labels.attempts, "attempts"),
  column.number<Row>("USD", ({ usd }) => usd.total, { cell: ({ usd }) => usd.total.toFixed(4) }),
];

import { useState } from "preact/hooks";
import type { AuditListReply } from "../../api/shape/overview.ts";
import { words } from "../language/words.ts";
import { useAnswer } from "../resource.ts";
import type { Column } from "./column.tsx";
import { DataTable } from "./data-table.tsx";
import { Loaded } from "./loaded.tsx";
import { Time } from "./time.tsx";

/** Who changed an object through the API, asked for when it is opened. `target` are the paths in the API that its actions write, with commas. */
export function Audits({ target }: { readonly target: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="card audits" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{words.audits.title}</summary>
      {isOpen ? <Found target={target} /> : null}
    </details>
  );
}

type Audit = AuditListReply["audits"][number];

const names = { ...words.labels, ...words.audits.columns };

const columns: readonly Column<Audit>[] = [
  { name: names.at, cell: ({ at }) => <Time at={at} /> },
  { name: names.who, cell: ({ caller }) => caller },
  {
    name: names.what,
    class: "mono wide",
    title: ({ target }) => target,
    cell: ({ action, target }) => `${action.split(" ")[0] ?? ""} ${target}`,
  },
  { name: names.answer, class: ({ status }) => (status < 400 ? "" : "error-code"), cell: ({ status }) => status },
  {
    name: names.sent,
    class: "mono dim cut-text wide",
    title: ({ detail }) => JSON.stringify(detail),
    cell: ({ detail }) => JSON.stringify(detail),
  },
];

const idOf = ({ id }: Audit): string => id;

export const AuditTable = ({ audits }: Pick<AuditListReply, "audits">) => (
  <DataTable label={words.audits.title} none={words.audits.none} look="stacks" {...{ columns, idOf }} rows={audits} />
);

function Found({ target }: { readonly target: string }) {
  const found = useAnswer("GET /audits", { target, limit: 50 }, { again: "slow" });
  return <Loaded of={found}>{AuditTable}</Loaded>;
}

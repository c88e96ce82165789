import { Button, Card, column, DataTable, JobLink, Time } from "../parts/index.ts";
import { useState } from "preact/hooks";
import { CapForm } from "./cap-form.tsx";
import type { SlotUseReply } from "../../insight/slots.ts";
import { words } from "../language/words.ts";

const shownHolders = 4;

interface SlotTableProps {
  readonly title: string;
  readonly slots: readonly SlotUseReply[];
  /** Of caps, which may be changed here. */
  readonly onDone?: () => void;
}

/** Slots in use, who holds them, and how many wait. */
export const SlotTable = ({ title, slots, onDone }: SlotTableProps) => (
  <Card title={title}>
    <DataTable
      label={title}
      look="stacks"
      rows={slots}
      idOf={({ key }) => key}
      columns={[
        column.text<SlotUseReply>(words.lanes.slots, "key", { class: "mono wide" }),
        {
          name: words.lanes.inUse,
          isNamed: true,
          by: ({ taken, size }) => taken / size,
          cell: ({ taken, size }) => (
            <>
              <meter min={0} max={size} value={taken} aria-label={words.lanes.inUseOf(taken, size)} />
              <span class="number">{` ${taken}/${size}`}</span>
            </>
          ),
        },
        column.number<SlotUseReply>(words.lanes.columns.waiting, "waiting"),
        { name: words.lanes.heldBy, class: "wide", isNamed: true, cell: ({ holders }) => <Holders of={holders} /> },
        column.actions<SlotUseReply>(({ key, size }) =>
          onDone === undefined || !/^cap:[^#]*$/.test(key) ? null : (
            <ChangeCap slots={key} size={size} onDone={onDone} />
          ),
        ),
      ]}
    />
  </Card>
);

const Holders = ({ of }: { readonly of: SlotUseReply["holders"] }) => (
  <>
    {of.slice(0, shownHolders).map(({ job, kind, since }) => (
      <span key={job} class="holder">
        <JobLink id={job} kind={kind ?? words.shared.job} />{" "}
        <span class="dim">{words.schedules.since(<Time at={since} />)}</span>
      </span>
    ))}
    {of.length > shownHolders ? <span class="dim">{words.many.more(of.length - shownHolders)}</span> : null}
  </>
);

interface ChangeCapProps {
  /** `cap:KIND` */
  readonly slots: string;
  readonly size: number;
  readonly onDone: () => void;
}

function ChangeCap({ slots, size, onDone }: ChangeCapProps) {
  const [isOpen, setOpen] = useState(false);
  const kind = slots.replace(/^cap:/, "");
  return (
    <>
      {isOpen ? <CapForm kind={kind} size={size} onClose={() => setOpen(false)} onDone={onDone} /> : null}
      <Button text={words.caps.change} look="small" onClick={() => setOpen(true)} label={words.caps.open(kind)} />
    </>
  );
}

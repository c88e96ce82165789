import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { CapForm } from "./cap-form.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { SlotUseReply } from "../../insight/slots.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

const shownHolders = 4;

interface SlotTableProps {
  readonly title: string;
  readonly slots: readonly SlotUseReply[];
  /** Of caps, which may be changed here. */
  readonly onDone?: () => void;
}

/** Slots in use, who holds them, and how many wait. */
export const SlotTable = ({ title, slots, onDone }: SlotTableProps) => (
  <section class="card" aria-label={title}>
    <header class="card-head">
      <h2>{title}</h2>
    </header>
    <table class="table stacks">
      <TableHead
        columns={[
          words.lanes.slots,
          words.lanes.inUse,
          { name: words.lanes.columns.waiting, isNumber: true },
          words.lanes.heldBy,
          { name: words.shared.actions, isHidden: true },
        ]}
      />
      <tbody>
        {slots.map(({ key, size, taken, waiting, holders }) => (
          <tr key={key}>
            <td class="mono wide">{key}</td>
            <td data-label={words.lanes.inUse}>
              <meter min={0} max={size} value={taken} aria-label={words.lanes.inUseOf(taken, size)} />
              <span class="number">{` ${taken}/${size}`}</span>
            </td>
            <td class="number" data-label={words.lanes.columns.waiting}>
              {waiting === 0 ? <span class="nothing">0</span> : numberText(waiting)}
            </td>
            <td class="wide" data-label={words.lanes.heldBy}>
              {holders.slice(0, shownHolders).map(({ job, kind, since }) => (
                <span key={job} class="holder">
                  <a class="link" href={addresses.job(job)}>
                    {kind ?? words.shared.job} {`#${job}`}
                  </a>{" "}
                  <span class="dim">{words.schedules.since(<Time at={since} />)}</span>
                </span>
              ))}
              {holders.length > shownHolders ? (
                <span class="dim">{words.many.more(holders.length - shownHolders)}</span>
              ) : null}
            </td>
            <td>
              {onDone === undefined || key.includes("#") ? null : <ChangeCap slots={key} size={size} onDone={onDone} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
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
    <span class="actions">
      {isOpen ? <CapForm kind={kind} size={size} onClose={() => setOpen(false)} onDone={onDone} /> : null}
      <button type="button" class="button small" aria-label={words.caps.open(kind)} onClick={() => setOpen(true)}>
        {words.caps.change}
      </button>
    </span>
  );
}

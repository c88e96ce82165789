import { addresses } from "../address.ts";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { ShownSlotUse } from "../shape.ts";
import { words } from "../language/words.ts";
import { counted } from "../language/number.ts";

const shownHolders = 4;

/** Slots in use, who holds them, and how many wait. */
export const SlotTable = ({ title, slots }: { readonly title: string; readonly slots: readonly ShownSlotUse[] }) => (
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
              {waiting === 0 ? <span class="nothing">0</span> : counted(waiting)}
            </td>
            <td class="wide" data-label={words.lanes.heldBy}>
              {holders.slice(0, shownHolders).map(({ job, kind, since }) => (
                <span key={job} class="holder">
                  <a class="link" href={addresses.job(job)}>
                    {kind ?? words.shared.job} {`#${job}`}
                  </a>{" "}
                  <span class="dim">{words.lanes.since(<Time at={since} />)}</span>
                </span>
              ))}
              {holders.length > shownHolders ? (
                <span class="dim">{words.many.more(holders.length - shownHolders)}</span>
              ) : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

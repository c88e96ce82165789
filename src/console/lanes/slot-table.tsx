import { addresses } from "../address.ts";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { ShownSlotUse } from "../shape.ts";
import { counted } from "../words.ts";

const shownHolders = 4;

/** Slots in use, who holds them, and how many wait. */
export const SlotTable = ({ title, slots }: { readonly title: string; readonly slots: readonly ShownSlotUse[] }) => (
  <section class="card" aria-label={title}>
    <header class="card-head">
      <h2>{title}</h2>
    </header>
    <table class="table stacks">
      <TableHead columns={["Slots", "In use", { name: "Waiting", isNumber: true }, "Held by"]} />
      <tbody>
        {slots.map(({ key, size, taken, waiting, holders }) => (
          <tr key={key}>
            <td class="mono wide">{key}</td>
            <td data-label="In use">
              <meter min={0} max={size} value={taken} aria-label={`${taken} of ${size} in use`} />
              <span class="number">{` ${taken}/${size}`}</span>
            </td>
            <td class="number" data-label="Waiting">
              {waiting === 0 ? <span class="nothing">0</span> : counted(waiting)}
            </td>
            <td class="wide" data-label="Held by">
              {holders.slice(0, shownHolders).map(({ job, kind, since }) => (
                <span key={job} class="holder">
                  <a class="link" href={addresses.job(job)}>
                    {kind ?? "job"} {`#${job}`}
                  </a>{" "}
                  <span class="dim">
                    since <Time at={since} />
                  </span>
                </span>
              ))}
              {holders.length > shownHolders ? (
                <span class="dim">{`and ${holders.length - shownHolders} more`}</span>
              ) : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

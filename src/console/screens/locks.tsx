import { loadLocks } from "../client.ts";
import { ScrollTable } from "../parts/scroll-table.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Tag } from "../parts/tag.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { useResource } from "../resource.ts";
import { SlotTable } from "../lanes/slot-table.tsx";
import type { ShownLock } from "../shape.ts";
import { durationText } from "../time.ts";
import { useTitle } from "../title.ts";

/** Who holds which lock. Only writes under the newest fence are accepted. */
export function LocksScreen() {
  useTitle("Locks");
  const found = useResource("locks", loadLocks, { again: "slow" });
  return (
    <>
      <header class="screen-head">
        <h1>Locks</h1>
        <span class="dim">Two holders may overlap for a moment; only the one with the newer fence can write</span>
      </header>
      <Loaded of={found}>
        {({ locks, jobLocks }) => (
          <>
            <section class="card" aria-label="Locks of schedulers">
              <header class="card-head">
                <h2>Schedulers</h2>
              </header>
              {locks.length === 0 ? (
                <p class="card-empty">None yet: a scheduler asks for its lock when it is first woken</p>
              ) : (
                <LockTable locks={locks} />
              )}
            </section>
            {jobLocks.length === 0 ? null : <SlotTable title="Locks of jobs" slots={jobLocks} />}
          </>
        )}
      </Loaded>
    </>
  );
}

const LockTable = ({ locks }: { readonly locks: readonly ShownLock[] }) => (
  <ScrollTable label="Holders">
    <table class="table">
      <TableHead
        columns={[
          "Lock",
          "State",
          "Holder",
          { name: "Fence", isNumber: true },
          { name: "Lease", isNumber: true },
          "Fence installed",
        ]}
      />
      <tbody>
        {locks.map((lock) => (
          <tr key={lock.name}>
            <td class="mono">{lock.name}</td>
            <td>{stateOf(lock)}</td>
            <td class="mono cut-text" title={holderOf(lock) ?? undefined}>
              {holderOf(lock) ?? <span class="nothing">–</span>}
            </td>
            <td class="number">{lock.fence ?? <span class="nothing">–</span>}</td>
            <td class="number">
              {lock.leaseMs === null ? <span class="nothing">–</span> : durationText(lock.leaseMs)}
            </td>
            <td>
              <Time at={lock.installedAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollTable>
);

const holderOf = ({ holder, fallback }: ShownLock): string | null => fallback?.owner ?? holder;

function stateOf({ isStoreUp, holder, fallback }: ShownLock) {
  if (fallback !== null) return <Tag icon="warning" tone="warn" text="Held in Postgres" />;
  if (!isStoreUp) return <Tag icon="warning" tone="bad" text="Lock store away" />;
  return holder === null ? <Tag icon="PENDING" tone="dim" text="Free" /> : <Tag icon="locks" tone="busy" text="Held" />;
}

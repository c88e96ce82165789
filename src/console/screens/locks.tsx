import { loadLocks } from "../client.ts";
import { ScrollTable } from "../parts/scroll-table.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Tag } from "../parts/tag.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { useResource } from "../resource.ts";
import { SlotTable } from "../lanes/slot-table.tsx";
import type { LockReply } from "../../api/shape/overview.ts";
import { durationText } from "../time.ts";
import { useTitle } from "../title.ts";
import { words } from "../language/words.ts";

/** Who holds which lock. Only writes under the newest fence are accepted. */
export function LocksScreen() {
  useTitle(words.places.locks);
  const found = useResource("locks", loadLocks, { again: "slow" });
  return (
    <>
      <header class="screen-head">
        <h1>{words.places.locks}</h1>
        <span class="dim">{words.locks.about}</span>
      </header>
      <Loaded of={found}>
        {({ locks, jobLocks }) => (
          <>
            <section class="card" aria-label={words.locks.ofSchedulers}>
              <header class="card-head">
                <h2>{words.locks.schedulers}</h2>
              </header>
              {locks.length === 0 ? <p class="card-empty">{words.locks.none}</p> : <LockTable locks={locks} />}
            </section>
            {jobLocks.length === 0 ? null : <SlotTable title={words.locks.ofJobs} slots={jobLocks} />}
          </>
        )}
      </Loaded>
    </>
  );
}

const names = { ...words.labels, ...words.locks.columns };

const LockTable = ({ locks }: { readonly locks: readonly LockReply[] }) => (
  <ScrollTable label={words.locks.holders}>
    <table class="table">
      <TableHead
        columns={[
          names.lock,
          names.state,
          names.holder,
          { name: names.fence, isNumber: true },
          { name: names.lease, isNumber: true },
          names.installed,
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

const holderOf = ({ holder, fallback }: LockReply): string | null => fallback?.owner ?? holder;

function stateOf({ isStoreUp, holder, fallback }: LockReply) {
  if (fallback !== null) return <Tag icon="warning" tone="warn" text={words.locks.inPostgres} />;
  if (!isStoreUp) return <Tag icon="warning" tone="bad" text={words.locks.storeAway} />;
  return holder === null ? (
    <Tag icon="PENDING" tone="dim" text={words.locks.free} />
  ) : (
    <Tag icon="locks" tone="busy" text={words.locks.held} />
  );
}

import { type Column, column, Loaded, Nothing, orNothing, ScreenHead, TableCard, Tag } from "../parts/index.ts";
import { useAnswer } from "../resource.ts";
import { SlotTable } from "../lanes/slot-table.tsx";
import type { LockReply } from "../../api/shape/overview.ts";
import { words } from "../language/words.ts";

/** Who holds which lock. Only writes under the newest fence are accepted. */
export function LocksScreen() {
  const found = useAnswer("GET /locks", {}, { again: "slow" });
  return (
    <>
      <ScreenHead title={words.places.locks}>
        <span class="dim">{words.locks.about}</span>
      </ScreenHead>
      <Loaded of={found}>
        {({ locks, jobLocks }) => (
          <>
            <TableCard title={words.locks.ofSchedulers} none={words.locks.none} {...{ columns, idOf }} rows={locks} />
            {jobLocks.length === 0 ? null : <SlotTable title={words.locks.ofJobs} slots={jobLocks} />}
          </>
        )}
      </Loaded>
    </>
  );
}

const names = { ...words.labels, ...words.locks.columns };

const columns: readonly Column<LockReply>[] = [
  column.text(names.lock, "name", { class: "mono" }),
  { name: names.state, cell: (lock) => stateOf(lock) },
  {
    name: names.holder,
    class: "mono cut-text",
    title: (lock) => holderOf(lock) ?? undefined,
    cell: (lock) => orNothing(holderOf(lock)),
  },
  { name: names.fence, isNumber: true, by: ({ fence }) => fence, cell: ({ fence }) => fence ?? <Nothing /> },
  column.duration(names.lease, "leaseMs"),
  column.time(names.installed, "installedAt"),
];

const idOf = ({ name }: LockReply): string => name;
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

/**
 * The behaviour of the `Store` port. Every implementation runs this one suite: real Postgres, and the reference
 * store that is the oracle of the model test and the store of the simulation.
 */
import { describe } from "vitest";
import { aftermathContract } from "./store/aftermath.ts";
import { backfillContract } from "./store/backfill.ts";
import { claimContract } from "./store/claim.ts";
import { controlContract } from "./store/control.ts";
import type { OpenStore } from "./store/fixture.ts";
import { outboxContract } from "./store/outbox.ts";
import { requeueContract } from "./store/requeue.ts";
import { historyContract } from "./store/history.ts";
import { insertContract } from "./store/insert.ts";
import { lanesContract } from "./store/lanes.ts";
import { launchContract } from "./store/launch.ts";
import { leasesContract } from "./store/leases.ts";
import { locksContract } from "./store/locks.ts";
import { occurrencesContract } from "./store/occurrences.ts";
import { orphanRunsContract } from "./store/orphan-runs.ts";
import { pruneContract } from "./store/prune.ts";
import { rescueContract, undeliveredContract } from "./store/rescue.ts";
import { runHooksContract } from "./store/run-hooks.ts";
import { runSlotsContract } from "./store/run-slots.ts";
import { continuationsContract } from "./store/continuations.ts";
import { renewalsContract } from "./store/renewals.ts";
import { runsContract } from "./store/runs.ts";
import { signalsContract } from "./store/signals.ts";
import { scheduleControlContract } from "./store/schedule-control.ts";
import { editsContract } from "./store/schedule-edits.ts";
import { removalContract } from "./store/schedule-removal.ts";
import { schedulesContract } from "./store/schedules.ts";
import { settleContract } from "./store/settle.ts";
import { settleTogetherContract } from "./store/settle-together.ts";
import { capByKeyContract } from "./store/cap-by-key.ts";
import { rateContract } from "./store/rate.ts";
import { circuitContract } from "./store/circuit.ts";
import { turnsContract } from "./store/turns.ts";
import { batchContract } from "./store/batch.ts";
import { debounceContract } from "./store/debounce.ts";
import { slotOrderContract } from "./store/slot-order.ts";
import { slotsContract } from "./store/slots.ts";
import { overlapContract } from "./store/overlap.ts";
import { prematerializedContract } from "./store/prematerialized.ts";

export type { OpenStore, StoreHarness } from "./store/fixture.ts";

/** Declares the suite for one implementation. `open` gives each test an empty store with a clock of its own. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`store: ${name}`, () => {
    insertContract(open);
    outboxContract(open);
    requeueContract(open);
    claimContract(open);
    launchContract(open);
    slotsContract(open);
    slotOrderContract(open);
    overlapContract(open);
    capByKeyContract(open);
    rateContract(open);
    circuitContract(open);
    turnsContract(open);
    debounceContract(open);
    batchContract(open);
    leasesContract(open);
    settleContract(open);
    settleTogetherContract(open);
    historyContract(open);
    aftermathContract(open);
    rescueContract(open);
    undeliveredContract(open);
    controlContract(open);
    pruneContract(open);
    lanesContract(open);
    schedulesContract(open);
    editsContract(open);
    scheduleControlContract(open);
    removalContract(open);
    backfillContract(open);
    occurrencesContract(open);
    prematerializedContract(open);
    runsContract(open);
    signalsContract(open);
    continuationsContract(open);
    renewalsContract(open);
    orphanRunsContract(open);
    runHooksContract(open);
    runSlotsContract(open);
    locksContract(open);
  });
}

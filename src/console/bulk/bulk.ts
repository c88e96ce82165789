import { signal } from "@preact/signals";
import { type Bulk, type BulkAction, type BulkTarget, countBulk, loadBulk, startBulk, stopBulk } from "../client.ts";
import { addresses } from "../address.ts";
import { confirmed } from "../parts/confirm.tsx";
import { say, sayFailed } from "../parts/toast.tsx";
import { counted, plural } from "../words.ts";

interface Ongoing {
  readonly action: BulkAction;
  readonly bulk: Bulk;
}

/** The change of many jobs that is under way, or null. */
export const ongoing = signal<Ongoing | null>(null);

const lookMs = 500;
const verbs = { retry: "Retry", cancel: "Cancel" } as const;
const pasts = { retry: "retried", cancel: "canceled" } as const;

/** Counts, asks, starts, and follows to the end. `onDone` is called when jobs were changed. */
export async function changeMany(action: BulkAction, target: BulkTarget, onDone: () => void = () => {}): Promise<void> {
  try {
    const found = await countBulk(action, target);
    if (found.count === 0) {
      say(`No job here can be ${pasts[action]}`);
      return;
    }
    const jobs = plural(found, "job");
    const isSure = await confirmed({
      title: `${verbs[action]} ${jobs}?`,
      text:
        action === "retry"
          ? "Each starts again with its own id, key and history. You can stop half way."
          : "None of them will run; workers of running ones are told to stop. You can stop half way.",
      action: `${verbs[action]} ${jobs}`,
      danger: action === "cancel",
    });
    if (!isSure) return;
    await follow(action, await startBulk(action, target));
    onDone();
  } catch (error) {
    ongoing.value = null;
    sayFailed(`The jobs were not ${pasts[action]}`, error);
  }
}

async function follow(action: BulkAction, started: Bulk): Promise<void> {
  let bulk = started;
  while (bulk.state === "RUNNING") {
    ongoing.value = { action, bulk };
    await new Promise((resolve) => setTimeout(resolve, lookMs));
    bulk = await loadBulk(bulk.id);
  }
  ongoing.value = null;
  const how = bulk.state === "STOPPED" ? " before it was stopped" : "";
  say(`${counted(bulk.changed)} of ${plural(bulk.total, "job")} ${pasts[action]}${how}`, {
    text: "Show jobs",
    href: addresses.jobsWith(action === "cancel" ? "state:canceled" : "state:pending,queued,running"),
  });
}

export async function stopOngoing(): Promise<void> {
  const id = ongoing.value?.bulk.id;
  if (id === undefined) return;
  try {
    await stopBulk(id);
  } catch (error) {
    sayFailed("It was not stopped", error);
  }
}

import { referenceStore } from "../support/reference-store.ts";
import { storeContract } from "./store.ts";

storeContract("the reference store in memory", async () => {
  let now = Date.UTC(2026, 0, 31, 23, 59, 30);
  const store = referenceStore(() => now);
  return {
    store,
    advance: async (ms) => {
      now += ms;
    },
    pauseSchedule: async (id) => {
      store.tables.schedules.set(id, { ...store.tables.schedules.row(id), paused: true });
      store.tables.journal.length = 0;
    },
    close: async () => {},
  };
});

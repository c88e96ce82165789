import { referenceStore } from "../support/reference-store.ts";
import { storeContract } from "./store.ts";

storeContract("the reference store in memory", async (options) => {
  let now = Date.UTC(2026, 0, 31, 23, 59, 30);
  const store = referenceStore(() => now, options);
  return {
    store,
    advance: async (ms) => {
      now += ms;
    },
    close: async () => {},
  };
});

import { storeContract } from "../contract/store.ts";
import { freshDatabase } from "../support/database.ts";

storeContract("Postgres", async (options) => {
  const { store, clock, close } = await freshDatabase(options);
  return {
    store,
    close,
    advance: (ms) => clock.advance(ms),
  };
});

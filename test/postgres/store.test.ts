import { storeContract } from "../contract/store.ts";
import { freshDatabase } from "../support/database.ts";

storeContract("Postgres", async () => {
  const { store, clock, close } = await freshDatabase();
  return {
    store,
    close,
    advance: (ms) => clock.advance(ms),
  };
});

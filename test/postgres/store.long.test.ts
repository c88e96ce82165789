import { storeContract } from "../contract/store.ts";
import { freshDatabase } from "../support/database.ts";

storeContract("Postgres", async (options) => {
  const { store, clock, close } = await freshDatabase(options);
  // It stands as the reference's does: no minute turns and no lease ends while a slow machine is between two lines.
  await clock.set(0);
  return {
    store,
    close,
    advance: (ms) => clock.advance(ms),
  };
});

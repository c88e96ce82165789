import { storeContract } from "../contract/store.ts";
import { freshDatabase } from "../support/database.ts";

storeContract("Postgres", async () => {
  const { store, clock, pool, close } = await freshDatabase();
  return {
    store,
    close,
    advance: (ms) => clock.advance(ms),
    async pauseSchedule(id) {
      await pool.query("update belfry.schedule set paused = true where id = $1", [id]);
    },
  };
});

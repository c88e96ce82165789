import { testDatabase, type TestDatabase } from "../support/database.ts";
import { type Shop, type World, world } from "../core/world.ts";

/** The real worker on real tables, with a crash where the test says so. */
export async function onPostgres(
  work: (db: TestDatabase, ports: World) => Promise<void>,
  crash: (point: string) => void = () => {},
) {
  const db = await testDatabase({ own: true });
  await db.pool.query("create table app_user (id bigint primary key, opens_at timestamptz)");
  const ports = world(() => ({ store: db.store, crashPoint: async (point) => crash(point) }));
  await work(db, ports);
}

export const usersInTable = (db: TestDatabase, count: number) =>
  db.pool.query("insert into app_user select n, now() from generate_series(1, $1::int) n", [count]);

/** Batches until nothing can be received. */
export async function drain(opened: Shop, db: TestDatabase): Promise<void> {
  for (let idle = 0; idle < 3; idle += 1) {
    let records = opened.receive(10);
    while (records.length > 0) {
      const { failed } = await opened.worker.handle(records, { remainingMs: () => 600_000 });
      opened.world.queue.delete(
        "default",
        records.map((one) => one.messageId).filter((id) => !failed.includes(id)),
      );
      records = opened.receive(10);
      idle = 0;
    }
    await db.clock.advance(5_000);
    await opened.world.clock.advance(5_000);
  }
}

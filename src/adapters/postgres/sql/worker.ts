import { statement } from "../statement.ts";

/** $1 id $2 lane $3 version. Locks its row. */
export const writeWorker = statement<never>(
  "worker-write",
  `
insert into belfry.worker as w (id, lane, version, started_at, seen_at) values ($1, $2, $3, belfry.now(), belfry.now())
on conflict (id) do update set version = excluded.version`,
);

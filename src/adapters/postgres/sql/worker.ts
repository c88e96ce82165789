import { statement } from "../statement.ts";

/** $1 id $2 lane $3 version $4 log group. Locks its row. */
export const writeWorker = statement<never>(
  "worker-write",
  `
insert into belfry.worker as w (id, lane, version, log_group, started_at, seen_at) values ($1, $2, $3, $4, belfry.now(), belfry.now())
on conflict (id) do update set version = excluded.version, log_group = excluded.log_group`,
);

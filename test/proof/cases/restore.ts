import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyData } from "../../support/standby.ts";
import { databaseAt, prepareDatabase, sql } from "../database.ts";
import type { Checklist, Proof } from "../proof.ts";
import { run, runbook, Servers } from "../put-back.ts";
import { preload } from "../system.ts";
import { until } from "../until.ts";

/** A restore in time and a copy of the disks take the place of a server whose last events a reader has seen. */
export const restore: Proof = {
  name: "restore",
  about:
    "a restore in time, then a copy of the disks, with the runbook's own commands: no reader misses an event in silence",
  guards: ["epoch"],
  async run({ folder }, list) {
    const servers = new Servers();
    try {
      const first = await servers.start(join(folder, "first"));
      const url = await prepareDatabase(first.url, "");
      const name = new URL(url).pathname;
      const begun = await look(url, null);
      await events(url, 10);
      await first.stop();
      copyData(join(folder, "first"), join(folder, "disks"));
      const past = copyData(join(folder, "first"), join(folder, "past"));
      const again = await servers.start(join(folder, "first"));
      await events(databaseAt(again, name), 5);
      await sql(databaseAt(again, name), "select pg_create_restore_point('before'); select pg_switch_wal()");
      await events(databaseAt(again, name), 40);
      const seen = await look(databaseAt(again, name), begun.cursor);
      list.expect("the reader saw all 55 events", seen.ids.length === 55 && !seen.isGap, seen.ids.length);
      await again.stop();

      writeFileSync(join(past, "recovery.signal"), "");
      const restored = await servers.start(join(folder, "past"), {
        restore_command: `cp ${again.dataFolder}/pg_wal/%f %p`,
        recovery_target_name: "before",
        recovery_target_action: "promote",
      });
      await until("the restored server to take writes", 30_000, () => isWritable(databaseAt(restored, name)));
      await events(databaseAt(restored, name), 100);
      await assess(list, "a restore in time, by itself", { url: databaseAt(restored, name), seen, events: 115 });
      await restored.stop();

      const copied = await servers.start(join(folder, "disks"));
      const said = await runbook("Restore from backup", databaseAt(copied, name));
      list.expect("the runbook's command begins an epoch", said.includes("epoch 2 begins"), said);
      await events(databaseAt(copied, name), 100);
      await assess(list, "a copy of the disks, by the runbook", { url: databaseAt(copied, name), seen, events: 110 });
    } finally {
      await servers.stop();
    }
  },
};

/** All rows go to a server whose transactions count from the beginning, by logical replication, which copies no sequences. */
export const move: Proof = {
  name: "move",
  about:
    "logical replication to a new server, with the runbook's own command: no old event comes again, none is missed in silence",
  guards: ["epoch"],
  async run({ folder, log }, list) {
    const servers = new Servers();
    try {
      log("pg_dump is not among the embedded programs: the rows go by logical replication");
      const from = await servers.start(join(folder, "from"), { wal_level: "logical" });
      const url = await prepareDatabase(from.url, "");
      const name = new URL(url).pathname;
      const begun = await look(url, null);
      await burn(url, 4_000);
      await events(url, 50);
      const seen = await look(url, begun.cursor);
      list.expectIs("the reader saw all 50 events", seen.ids.length, 50);
      const to = await servers.start(join(folder, "to"));
      const target = await prepareDatabase(to.url, "");
      await replicate(url, target);
      await from.stop();

      const said = await runbook("Move to another server", target);
      list.expect("the runbook's command begins an epoch", said.includes("epoch 2 begins"), said);
      const gap = await look(target, seen.cursor);
      list.expect("a reader of before gets a gap notice", gap.isGap && gap.ids.length === 0, gap.ids.length);
      await burn(target, 8_000);
      const after = await look(target, gap.cursor);
      list.expect("no old event comes again", after.ids.length === 0 && !after.isGap, after.ids.length);
      await events(target, 5);
      const last = await look(target, after.cursor);
      list.expectIs("the next 5 events come", last.ids.length, 5);
      list.expectIs("the roll-up counted each event once", last.created, 55);
      list.figure(`database${name}: 50 events moved`);
    } finally {
      await servers.stop();
    }
  },
};

interface Look {
  readonly ids: readonly string[];
  readonly cursor: string;
  readonly isGap: boolean;
  /** What the roll-up has counted. */
  readonly created: number;
}

async function assess(
  list: Checklist,
  what: string,
  { url, seen, events: kept }: { url: string; seen: Look; events: number },
): Promise<void> {
  const gap = await look(url, seen.cursor);
  list.expect(`${what}: the reader gets a gap notice`, gap.isGap, `${gap.ids.length} events and no notice`);
  await events(url, 5);
  const next = await look(url, gap.cursor);
  list.expect(`${what}: then it goes on`, !next.isGap && next.ids.length === 5, next.ids.length);
  list.expectNone(
    `${what}: no new event has the id of one that was lost`,
    next.ids.filter((id) => seen.ids.includes(id)),
  );
  list.expectIs(`${what}: the roll-up counted each event once`, next.created, kept + 5);
}

/** A process of its own reads, as an API or a scheduler task would. */
async function look(url: string, cursor: string | null): Promise<Look> {
  const program = fileURLToPath(new URL("../event-reader.ts", import.meta.url));
  const { stdout } = await run(process.execPath, [program, ...(cursor === null ? [] : [cursor])], {
    env: { ...process.env, DATABASE_URL: url, NODE_OPTIONS: preload },
  });
  return JSON.parse(stdout) as Look;
}

const isWritable = (url: string): Promise<boolean> =>
  sql(url, "select not pg_is_in_recovery() as yes").then(
    ([row]) => row?.["yes"] === true,
    () => false,
  );

/** Each in a transaction of its own, as enqueues are. */
async function events(url: string, count: number): Promise<void> {
  await sql(
    url,
    `do $$ begin for n in 1..${count} loop
      insert into belfry.event (id, at, to_state, job_ids, attempts, generations)
        values (belfry.next_event(), now(), 'QUEUED', array[n], array[0], array[1]);
      commit;
    end loop; end $$`,
  );
}

/** Uses up transaction numbers. */
const burn = (url: string, count: number) =>
  sql(url, `do $$ begin for n in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`);

/** All rows of all tables, as a replica that becomes the new primary has them. */
async function replicate(from: string, to: string): Promise<void> {
  await sql(
    to,
    `do $$ declare t record; begin
      for t in select oid::regclass as name from pg_class
        where relnamespace = 'belfry'::regnamespace and relkind in ('r', 'p') and not relispartition
      loop execute format('truncate %s restart identity cascade', t.name); end loop;
    end $$`,
  );
  await sql(from, "create publication everything for all tables with (publish_via_partition_root = true)");
  await sql(to, `create subscription everything connection '${from}' publication everything`);
  await until("all rows to be copied", 60_000, async () => {
    const rows = await sql(
      to,
      "select count(*)::int as all, (count(*) filter (where srsubstate = 'r'))::int as ready from pg_subscription_rel",
    );
    return Number(rows[0]?.["all"]) > 0 && rows[0]?.["all"] === rows[0]?.["ready"];
  });
  await sql(to, "drop subscription everything");
}

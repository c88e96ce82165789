import { startHunted } from "../hunted.ts";
import { numbered } from "../load.ts";
import { sharedRate } from "../points.ts";
import type { Proof } from "../proof.ts";
import type { System } from "../system.ts";

const { limit, perMs } = sharedRate;
/** Of what the limit allows. */
const sustainedMin = 0.95;

/** Each time at which a unit was spent, also by a call or by an attempt that was killed. */
const noteUnits = `
create schema proof;
create table proof.unit (at timestamptz not null);
create function proof.note_unit() returns trigger language plpgsql as $$
begin
  insert into proof.unit select new.free_from - belfry.span(window_ms) from belfry.slot_group where key = new.key;
  return null;
end $$;
create trigger note_unit after update on belfry.slot for each row
  when (new.key = 'rate:@target' and new.job_id is null and new.free_from > belfry.now() and new.free_from is distinct from old.free_from)
  execute function proof.note_unit();`;

/** Twelve workers, two kinds that start and one that calls by one limit: at rest, which shows how much of it is used, then under kills. */
export const rateProof: Proof = {
  name: "rate",
  about: `12 workers, two kinds that start and handlers that call by one limit of ${limit} a second, 2 % of the messages twice, random kill -9: 0 windows above it, and at least ${sustainedMin * 100} % of it used where no worker dies`,
  guards: ["window"],
  async run(context, list) {
    const hunted = await startHunted(context, { app: "rate", sql: noteUnits });
    const { system } = hunted;
    const each = Math.round(1_000 * context.size);
    const give = async (kinds: readonly string[]): Promise<void> => {
      for (const kind of kinds) await hunted.enqueue(kind, numbered(each));
    };
    await give(["first", "second"]);
    await hunted.untilEnded();
    const starts = await usedSince(system, await lastRefusal(system));
    const callsFrom = new Date();
    await give(["calls"]);
    await hunted.untilEnded();
    const calls = await usedSince(system, callsFrom);
    await give(["calls", "first", "second"]);
    hunted.kill(4_000);
    await hunted.succeeded(list);
    const events = await inWindows(system, startsOf);
    const units = await inWindows(system, "select at from proof.unit");
    list.expectAtMost(`never more than ${limit} starts in any ${perMs} ms, by the events`, events.most, limit);
    list.expectAtMost(`never more than ${limit} units in any ${perMs} ms`, units.most, limit);
    list.expect("each start and each call has a unit", units.count >= 6 * each, units.count);
    list.expect(`starts use at least ${sustainedMin * 100} % of it`, starts >= sustainedMin, starts.toFixed(3));
    list.expect(`calls use at least ${sustainedMin * 100} % of it`, calls >= sustainedMin, calls.toFixed(3));
    const made = await inWindows(system, callsOf(system));
    list.figure(
      `${6 * each} jobs, ${units.count} units: starts use ${(starts * 100).toFixed(1)} % of ${limit} a second, calls ${(calls * 100).toFixed(1)} %; at most ${units.most} in a window, and ${made.most} calls as the handlers made them; ${hunted.seen()}`,
    );
  },
};

/** The share of the limit that is used from then on, without the first and the last window: workers take up and end their work in those. */
async function usedSince({ row }: System, from: Date): Promise<number> {
  const { used } = await row<{ used: number | null }>(
    `select (count(*) / (extract(epoch from max(b.hi) - max(b.lo)) * 1000 * $2::int / $3::int))::float8 as used
    from proof.unit cross join (
      select min(at) + belfry.span($3::int) as lo, max(at) - belfry.span($3::int) as hi from proof.unit where at > $1
    ) b where at >= b.lo and at < b.hi`,
    [from, limit, perMs],
  );
  return used ?? 0;
}

/** Jobs that find no unit are refused once, and wait from then on. */
async function lastRefusal({ row }: System): Promise<Date> {
  const { at } = await row<{ at: Date | null }>("select max(at) as at from belfry.event where to_state = 'PENDING'");
  return at ?? new Date(0);
}

const startsOf = `select e.at from belfry.event e cross join lateral unnest(e.job_ids) as u (id) join belfry.job j on j.id = u.id
  where e.to_state = 'RUNNING' and j.kind <> 'calls'`;

/** By the clock of the processes. */
const callsOf = ({ ledger }: System): string => {
  const times = ledger
    .read()
    .flatMap(({ what, note }) => (what === "start" ? `(to_timestamp(${Number(note) / 1_000}))` : []));
  return `select at from (values ${times.join(", ")}) as v (at)`;
};

/** How many, over how long, and the most of them in any window, wherever it begins. */
const inWindows = ({ row }: System, times: string): Promise<{ count: number; most: number }> =>
  row(`
    select count(*)::int as count, max(n)::int as most
    from (
      select at, count(*) over (order by at range between '${perMs * 1_000 - 1} microseconds' preceding and current row) as n
      from (${times}) t
    ) w`);

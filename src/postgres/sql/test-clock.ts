import { statement } from "../statement.ts";

/** Locks the three functions while it replaces them. plpgsql keeps its plan, so a reading stays cheap. */
export const createTestClock = statement<never>("test-clock")(`
do $do$ begin
  create table if not exists belfry.test_clock (
    one    boolean primary key default true check (one),
    origin timestamptz not null,
    rate   float8 not null,
    shift  interval not null
  );
  insert into belfry.test_clock (origin, rate, shift) values (clock_timestamp(), 1, interval '0') on conflict do nothing;
  create or replace function belfry.now() returns timestamptz language plpgsql stable parallel safe as $$
  begin
    return (select origin + (statement_timestamp() - origin) * rate + shift from belfry.test_clock);
  end $$;
  create or replace function belfry.clock() returns timestamptz language plpgsql volatile as $$
  begin
    return (select origin + (clock_timestamp() - origin) * rate + shift from belfry.test_clock);
  end $$;
  create or replace function belfry.waited() returns interval language plpgsql volatile as $$
  begin
    return (select (clock_timestamp() - statement_timestamp()) * rate from belfry.test_clock);
  end $$;
end $do$`);

/** $1 ms. Locks the one row. */
export const moveTestClock = statement<never>("test-clock-move")(
  "update belfry.test_clock set shift = shift + belfry.span($1::float8)",
);

/** $1 rate. The origin moves to this moment and the shift to where now was, so that nothing jumps. Locks the one row. */
export const rateTestClock = statement<never>("test-clock-rate")(
  "update belfry.test_clock set shift = belfry.now() - statement_timestamp(), origin = statement_timestamp(), rate = $1::float8",
);

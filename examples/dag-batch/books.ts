import { databasePool } from "belfry/connect";

export interface ShopDay {
  readonly shop: string;
  readonly day: string;
}

const connected = databasePool();
const total = `
  select count(*)::int as rows, coalesce(sum(cents), 0)::int as cents
  from dag_batch.booking where shop = $1 and day = $2 and kind = $3`;
// The same ticket in every try: a shop's day has one.
const ticket = `
  insert into dag_batch.ticket (shop, day, diff_cents) values ($1, $2, $3)
  on conflict (shop, day) do update set diff_cents = excluded.diff_cents
  returning 'T-' || id as ticket`;

/** What we have booked of this kind for the day. */
export async function bookings(kind: "order" | "refund", { shop, day }: ShopDay) {
  const { rows } = await connected().query<{ rows: number; cents: number }>(total, [shop, day, kind]);
  return rows[0] ?? { rows: 0, cents: 0 };
}

/** A person has to check the difference. */
export async function openTicket({ shop, day }: ShopDay, diff: number) {
  const { rows } = await connected().query<{ ticket: string }>(ticket, [shop, day, diff]);
  return { ticket: rows[0]?.ticket ?? null };
}

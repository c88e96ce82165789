/**
 * The example's input, and how its services treat each piece: one place, so that the seed, the fakes and the judge of
 * a run agree. Plain arithmetic on the number of the shop: the same on every machine.
 */
export const shops: readonly string[] = Array.from(
  { length: 12 },
  (_, index) => `shop-${String(index + 1).padStart(2, "0")}`,
);

export const graphs: readonly string[] = ["wide-join", "deep", "islands", "broken"];

export interface Booking {
  readonly kind: "order" | "refund";
  readonly cents: number;
}

const numberOf = (shop: string): number => Number(shop.slice(-2));

/** What a shop books on a day. */
export function bookingsOf(shop: string, day: string): readonly Booking[] {
  const seed = numberOf(shop) * 7_919 + Number(day.replaceAll("-", ""));
  const orders = Array.from({ length: 4 + (seed % 5) }, (_, n) => ({
    kind: "order" as const,
    cents: 1_000 + ((seed * (n + 3)) % 9_973),
  }));
  return seed % 2 === 0 ? [...orders, { kind: "refund", cents: 500 + (seed % 400) }] : orders;
}

/** What the bank says more or less than our books. */
export const bankDifference = (shop: string): number => (numberOf(shop) % 4 === 0 ? -120 : 0);

/** `late`: the bank is not ready for the first two questions. `missing`: it has no statement. */
export function statementTreatment(shop: string): "ready" | "late" | "missing" {
  if (numberOf(shop) === 11) return "missing";
  return numberOf(shop) % 6 === 1 ? "late" : "ready";
}

export function statementCents(shop: string, day: string): number {
  const sum = bookingsOf(shop, day).reduce((all, { kind, cents }) => all + (kind === "order" ? cents : -cents), 0);
  return sum + bankDifference(shop);
}

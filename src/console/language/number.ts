import type { ShownCount } from "../shape.ts";
import { language } from "./choice.ts";

const format = new Intl.NumberFormat(language);

export type Count = number | ShownCount;

/** `12,345`, or `10,000+` for a count that stopped there. */
export const counted = (value: Count): string =>
  typeof value === "number" ? format.format(value) : `${format.format(value.count)}${value.isMore ? "+" : ""}`;

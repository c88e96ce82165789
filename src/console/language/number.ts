import type { SummaryReply } from "../../api/shape/overview.ts";
import { language } from "./choice.ts";

const format = new Intl.NumberFormat(language);

/** One that stopped at a bound has `isMore`. */
export type CountReply = SummaryReply["deadLetters"];
export type Count = number | CountReply;

/** `12,345`, or `10,000+` for a count that stopped there. */
export const numberText = (value: Count): string =>
  typeof value === "number" ? format.format(value) : `${format.format(value.count)}${value.isMore ? "+" : ""}`;

/** `99.9 %`. */
export const percentText = (share: number): string => `${format.format(Math.round(share * 100_000) / 1_000)} %`;

import type { ComponentChildren } from "preact";
import { numberText } from "../language/number.ts";

/** Steps back where there is no value. */
export const Nothing = () => <span class="nothing">–</span>;

/** The value, or that there is none. */
export const orNothing = (value: ComponentChildren): ComponentChildren =>
  value === null || value === 0 ? <Nothing /> : value;

/** A zero steps back, so that what is not zero stands out. */
export const zeroOr = (count: number, isMore = false) =>
  count === 0 && !isMore ? <span class="nothing">0</span> : numberText({ count, isMore });

/** `node scripts/costs.ts` writes docs/costs.md and what is computed in docs/scale.md; a test compares them, and warns of prices that are older than 180 days. */
import { readFileSync, writeFileSync } from "node:fs";
import { costs } from "./costs/document.ts";
import { scalePage } from "./costs/scale.ts";
import { type Price, prices } from "../src/insight/prices.ts";

export const target = new URL("../docs/costs.md", import.meta.url);
export const scaleTarget = new URL("../docs/scale.md", import.meta.url);

export const checkedDaysMax = 180;

/** @returns the prices whose last check is too long ago. */
export const stale = (table: Readonly<Record<string, Price>>, todayMs: number): readonly string[] =>
  Object.entries(table)
    .filter(([, { checkedOn }]) => todayMs - Date.parse(checkedOn) > checkedDaysMax * 86_400_000)
    .map(([name, { checkedOn, source }]) => `${name}: last gone over on ${checkedOn}, compare it with ${source}`);

if (import.meta.main) {
  writeFileSync(target, await costs());
  writeFileSync(scaleTarget, await scalePage(readFileSync(scaleTarget, "utf8")));
  for (const line of stale(prices, Date.now())) console.warn(`old price: ${line}`);
}

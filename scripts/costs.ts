/** `node scripts/costs.ts` writes docs/costs.md; a test compares it, and warns of prices that are older than 180 days. */
import { writeFileSync } from "node:fs";
import { costs } from "./costs/document.ts";
import { prices, stale } from "./costs/prices.ts";

export const target = new URL("../docs/costs.md", import.meta.url);

if (import.meta.main) {
  writeFileSync(target, await costs());
  for (const line of stale(prices, Date.now())) console.warn(`old price: ${line}`);
}

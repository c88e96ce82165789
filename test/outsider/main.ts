/**
 * `npm run outsider [-- PART...]`: starts the system as its users do and meets it from outside, with tools that know nothing of
 * its code. Each check must find nothing in the system, and something in each fault that is planted into it.
 */
import { setImmediate } from "node:timers/promises";
import { calendarCheck } from "./calendars.ts";
import type { Check } from "./check.ts";
import { clientCheck } from "./clients.ts";
import { fuzzCheck } from "./fuzz.ts";
import { languageChecks } from "./languages.ts";
import { importersCheck } from "./importers.ts";
import { linterChecks } from "./linters.ts";
import { otherUserCheck } from "./other-user.ts";
import { pageCheck } from "./pages.ts";
import { sqlClientsCheck } from "./sql-clients.ts";
import { socketCheck } from "./sockets.ts";
import { startCheck } from "./start.ts";
import { tracesCheck } from "./traces.ts";
import { startWorld, type Target } from "./world.ts";

const checks: readonly Check[] = [
  ...linterChecks,
  clientCheck,
  ...languageChecks,
  fuzzCheck,
  sqlClientsCheck,
  importersCheck,
  tracesCheck,
  calendarCheck,
  socketCheck,
  pageCheck,
  otherUserCheck,
  startCheck,
];

const wanted = process.argv.slice(2);
const world = await startWorld();
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const totals = { clean: 0, findings: 0, faults: 0, missed: 0, left: 0 };
try {
  for (const check of checks.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))) {
    await perform(check, world);
  }
} finally {
  await world.stop();
}
say(
  `\n${totals.clean} checks found nothing, ${totals.findings} findings; ${totals.faults} planted faults found, ${totals.missed} missed; ` +
    `${totals.left} checks left out`,
);
process.exitCode = totals.findings + totals.missed === 0 ? 0 : 1;

async function perform(check: Check, target: Target): Promise<void> {
  const missing = (await check.missing?.()) ?? null;
  if (missing !== null) {
    totals.left += 1;
    return say(`LEFT OUT  ${check.name}: ${missing}`);
  }
  // A linter keeps this process busy for seconds: connections that the server closed in that time must be seen as closed.
  await setImmediate();
  await setImmediate();
  const began = performance.now();
  const found = await check.run(target);
  totals.findings += found.length;
  totals.clean += found.length === 0 ? 1 : 0;
  say(
    `${found.length === 0 ? "nothing" : "FOUND  "}   ${check.name} (${((performance.now() - began) / 1_000).toFixed(1)} s)`,
  );
  for (const finding of found) say(`            ${finding}`);
  for (const [name, plant] of Object.entries(check.faults)) {
    const planted = await plant(target);
    try {
      const [seen] = await check.run(planted.target);
      totals[seen === undefined ? "missed" : "faults"] += 1;
      say(
        `  ${seen === undefined ? "MISSED" : "found "}  fault: ${name}${seen === undefined ? "" : ` -> ${seen.slice(0, 140)}`}`,
      );
    } finally {
      await planted.close?.();
    }
  }
}

import { openConnections, createPostgresStore } from "../../src/postgres/index.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { registry } from "../../src/define/definition.ts";
import { installDefinitions } from "../../src/schedule/install-schedules.ts";
import { tick } from "../../src/schedule/tick.ts";
import { nextFire, type FirePattern } from "../../src/calendar/timetable.ts";
import { type Plan, watchPlans } from "../../test/postgres/plans.ts";
import type { Ground } from "../ground.ts";
import { compared, type Figure, measured, rounds } from "../measure.ts";
import { portsWith } from "../ports.ts";

const many = 10_000;
const due = 100;
const minuteMs = 60_000;

/** How long it takes to know when they fire next, and whether a tick feels schedules that are not due. */
export async function schedules(ground: Ground): Promise<readonly Figure[]> {
  return [nextFires(), ...(await ticks(ground))];
}

/** Every round asks about another year, so that no offset of a zone is known from the round before. */
function nextFires(): Figure {
  const whens = Array.from({ length: many }, (_, n) => whenOf(n));
  const seconds = Array.from({ length: rounds }, (_, round) => {
    const after = Date.UTC(2026 + round, 0, 15, 12, 30);
    const startedMs = performance.now();
    const fires = whens.filter((when) => nextFire(when, after) !== null).length;
    if (fires !== many) throw new Error(`${many - fires} schedules have no next fire`);
    return (performance.now() - startedMs) / 1_000;
  });
  return measured(`schedules: next fire of ${many.toLocaleString("en-US")}`, "s", seconds, { valueMax: 0.5 });
}

/** Minutes, hours, days, weekdays and month ends, over all zones of the platform. */
function whenOf(n: number): FirePattern {
  const zones = Intl.supportedValuesOf("timeZone");
  const minute = n % 60;
  const hour = Math.floor(n / 60) % 24;
  const texts = [
    `${minute} * * * *`,
    `${minute} ${hour} * * *`,
    `${minute} ${hour} * * MON-FRI`,
    `${minute} ${hour} L * *`,
    `${minute} ${hour} * * FRI#2`,
    `*/${1 + (n % 30)} ${hour} * * *`,
  ] as const;
  return {
    expression: { form: "cron", cron: texts[n % texts.length] ?? texts[0] },
    timezone: zones[n % zones.length] ?? "UTC",
    dst: { gap: "auto", overlap: "auto" },
    startAt: null,
    endAt: null,
  };
}

/** Pages that the statements of one tick touch, as the server counted them while they ran. */
async function ticks(ground: Ground): Promise<readonly Figure[]> {
  const full = await openTicks(ground, many);
  const small = await openTicks(ground, due);
  const pairs: { product: number; roof: number }[] = [];
  const shares: string[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const product = await full.once();
    const roof = await small.once();
    if (round > 0) pairs.push({ product: product.buffers, roof: roof.buffers });
    shares.push(`${product.buffers}/${roof.buffers}`);
  }
  await Promise.all([full.close(), small.close()]);
  process.stderr.write(`schedules: pages of a tick with ${many} and with ${due}, by round: ${shares.join(" ")}\n`);
  return [
    compared(`schedules: tick, ${due} due of ${many.toLocaleString("en-US")}`, "pages", pairs, { ratioMax: 1.2 }),
  ];
}

async function openTicks(ground: Ground, count: number) {
  const database = await ground.database();
  const connections = openConnections({ url: database.url, applicationName: "belfry bench ticks", connections: 1 });
  const { plans } = await watchPlans({ pool: database.pool, connections });
  const ports = (dispatchWindowMs: number) => portsWith(createPostgresStore(connections, { dispatchWindowMs }));
  const job = defineJob({ id: "noop", run: () => {} });
  // The others fire once a year: they are there, and are not due.
  const all = Array.from({ length: count }, (_, n) =>
    defineSchedule({ id: `s-${n}`, cron: n < due ? "* * * * *" : "0 0 1 1 *", timezone: "UTC", run: job }),
  );
  const known = registry([defineApp({ name: "bench", jobs: [job], schedules: all })]);
  await installDefinitions(ports(0), known, { stage: "bench" });
  for (let left = count; left > 0;) {
    left = (await tick(ports(0), known)).schedules;
  }
  await database.pool.query("vacuum analyze belfry.schedule, belfry.occurrence, belfry.job");
  let dispatchWindowMs = 0;
  return {
    /** A minute further ahead than before: the minutely schedules are due, one time each. */
    async once(): Promise<{ buffers: number }> {
      dispatchWindowMs += minuteMs;
      plans.length = 0;
      const { occurrences } = await tick(ports(dispatchWindowMs), known);
      // A full minute of real time may pass between two rounds, and then it is two times each.
      if (occurrences < due) throw new Error(`the tick planned ${occurrences} times, not ${due}`);
      return { buffers: pagesOf(plans) / (occurrences / due) };
    },
    close: () => connections.close(),
  };
}

function pagesOf(plans: readonly Plan[]): number {
  const names = new Set(plans.map((plan) => plan.name));
  if (!names.has("plan") || !names.has("schedules-due")) throw new Error("the server explained no tick");
  return plans.reduce((sum, plan) => sum + plan.buffers, 0);
}

import { DeleteItemCommand, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { schedulerLock } from "../../../src/schedule/pass.ts";
import { type AuditRow, beginAudited, fencedWrites, readAudit, type Sessions } from "../audit.ts";
import { judge } from "../judge.ts";
import { assessEverySecond, unfinished } from "../occurrences.ts";
import { type Checklist, type Proof, seeded } from "../proof.ts";
import { illnesses, pass, type ProxiedCall, type Verdict } from "../proxy.ts";
import type { SchedulerProcess } from "../scheduler-process.ts";
import type { System } from "../system.ts";
import { letPass, until } from "../until.ts";

const lockLeaseMs = 2_000;
const streams = 2;
/** A task tries the lock store for 10 s before the fallback lock is used; what is left of its time is for passes. */
const passMs = 22_000;
const faultMs = 20_000;
/** An unanswered call takes three times two seconds until it counts as failed. */
const hangingMs = 26_000;
/** Faults that a repeated call gets over. */
const shortFaultMs = 12_000;
const calmMs = 4_000;

/** The lock store is ill in every way it can be, while two schedulers at a time want the lock. */
export const lockDown: Proof = {
  name: "lock-down",
  about: "lock store 5xx, throttled, hanging, lying, wiped, restored: no interleaved fenced writes, work goes on",
  guards: ["fence"],
  async run(context, list) {
    const lease = { BELFRY_LOCK_LEASE_MS: String(lockLeaseMs) };
    const { system, sessions, fleet, installedAt } = await beginAudited(context, lease);
    const tasks = startStreams(system, sessions);
    const phases: Phase[] = [];
    for (const fault of faults(system, seeded(context.seed))) {
      const from = Date.now();
      await fault.during();
      phases.push({ name: fault.name, from, to: Date.now() });
      system.proxies.dynamodb?.judge(() => pass);
      context.log(`${fault.name}: over`);
      // The calm between two faults: its passes show that the one before is over.
      await letPass(calmMs);
    }
    await skipInstead(list, system, sessions);
    // The same calm after the last fault.
    await letPass(calmMs);
    await tasks.stop();
    await system.untilNone("everything dispatched to run", 60_000, unfinished);
    await fleet.stop();
    const audit = await readAudit(system.pool);
    const tables = await judge(list, system, { fenced: fencedWrites(audit) });
    assessEverySecond(list, tables, installedAt);
    assess(list, phases, audit, tasks.ended(), sessions.userOf("skipping"));
  },
};

interface Phase {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

interface Fault {
  readonly name: string;
  during(): Promise<void>;
}

function faults(system: System, random: () => number): readonly Fault[] {
  const proxied = (name: string, verdict: (call: ProxiedCall) => Verdict, ms = faultMs): Fault => ({
    name,
    async during() {
      system.proxies.dynamodb?.judge(verdict);
      // The fault lasts this long.
      await letPass(ms);
    },
  });
  const lie: Verdict = { do: "do-and-refuse", ...illnesses.broken };
  return [
    proxied("5xx", () => ({ do: "refuse", ...illnesses.broken })),
    proxied("throttled", () => ({ do: "refuse", ...illnesses.throttled })),
    proxied("hanging", () => ({ do: "hang" }), hangingMs),
    proxied("done but answered 500", ({ operation }) => (operation === "UpdateItem" ? lie : pass), shortFaultMs),
    proxied(
      "any of these, now and then",
      () => {
        const chance = random();
        if (chance < 0.15) return lie;
        return chance < 0.3 ? { do: "refuse", ...illnesses.broken } : pass;
      },
      shortFaultMs,
    ),
    { name: "wiped", during: () => damage(system, "wipe") },
    { name: "restored", during: () => damage(system, "restore") },
  ];
}

/** Three times, each while one task holds the lock and another wants it. */
async function damage(system: System, how: "wipe" | "restore"): Promise<void> {
  const table = { TableName: system.topology.lock.tableName };
  const key = { name: { S: schedulerLock } };
  for (let round = 0; round < 3; round += 1) {
    await until("a task to hold the lock", 30_000, async () => {
      const { Item } = await system.dynamodb.send(new GetItemCommand({ ...table, Key: key, ConsistentRead: true }));
      return Item?.["owner"] !== undefined;
    });
    // An old token far behind, or the one just before: its next holder would be given the one in force again.
    const fence = round === 0 ? 1 : (await tokenInForce(system)) - 1;
    const old = { ...key, rvn: { S: "from the backup" }, fence: { N: `${fence}` }, leaseMs: { N: `${lockLeaseMs}` } };
    if (how === "wipe") await system.dynamodb.send(new DeleteItemCommand({ ...table, Key: key }));
    else await system.dynamodb.send(new PutItemCommand({ ...table, Item: old }));
    // The wiped or restored item stays in force for some leases.
    await letPass(3 * lockLeaseMs);
  }
}

async function tokenInForce({ row }: System): Promise<number> {
  return Number((await row("select token from belfry.lock_fence where name = $1", [schedulerLock]))["token"]);
}

interface Streams {
  ended(): readonly SchedulerProcess[];
  stop(): Promise<void>;
}

/** Two wakes side by side, each starting its next task as soon as the last one ended. */
function startStreams(system: System, sessions: Sessions): Streams {
  const all: SchedulerProcess[] = [];
  const start = (): SchedulerProcess => {
    const task = system.scheduler({ BELFRY_PASS_MS: String(passMs), ...sessions.of(`task ${all.length + 1}`) });
    all.push(task);
    return task;
  };
  const wakes = Array.from({ length: streams }, () => system.wakesOf(start, 1_000));
  return {
    ended: () => all,
    async stop() {
      await Promise.all(wakes.map((each) => each.stop()));
    },
  };
}

/** The other policy: nothing is done without the lock store, and the exit code says so. */
async function skipInstead(list: Checklist, system: System, sessions: Sessions): Promise<void> {
  system.proxies.dynamodb?.judge(() => ({ do: "refuse", ...illnesses.broken }));
  const task = system.scheduler({ BELFRY_ON_LOCK_OUTAGE: "skip", BELFRY_PASS_MS: "9000", ...sessions.of("skipping") });
  const end = await task.ended;
  system.proxies.dynamodb?.judge(() => pass);
  list.expectIs("onLockOutage skip: the task says so", task.report()?.outcome, "lock-outage");
  list.expectIs("onLockOutage skip: exit code 3", end.code, 3);
}

function assess(
  list: Checklist,
  phases: readonly Phase[],
  audit: readonly AuditRow[],
  tasks: readonly SchedulerProcess[],
  skipping: string,
): void {
  for (const { name, from, to } of phases) {
    const writes = audit.filter((row) => row.committedAt >= from && row.committedAt <= to && row.what !== "install");
    list.expect(`${name}: fenced work goes on`, writes.length > 0, writes.length);
  }
  const skipped = audit.filter((row) => row.process === skipping);
  list.expectNone("onLockOutage skip: nothing is written", skipped, (row) => row.what);
  const failed = tasks.filter((task) => task.exitCode() !== 0 && task.exitCode() !== null);
  list.expectNone("every task ends with 0", failed, (task) => `${task.exitCode()}: ${task.plainLines().at(-1)}`);
  const outcomes = Map.groupBy(tasks, (task) => task.report()?.outcome ?? "none");
  list.expect("some task lost its fence", (outcomes.get("fence-lost")?.length ?? 0) > 0);
  const installs = audit.filter((row) => row.what === "install");
  list.figure(
    `${installs.length} tokens, the last ${installs.at(-1)?.token}; ${audit.length - installs.length} fenced writes`,
  );
  list.figure([...outcomes].map(([outcome, some]) => `${some.length} ${outcome}`).join(", "));
}

import { beginAudited, fencedWrites, readAudit, type Sessions } from "../audit.ts";
import { judge } from "../judge.ts";
import { assessEverySecond, unfinished } from "../occurrences.ts";
import type { Checklist, Proof } from "../proof.ts";
import { pass } from "../proxy.ts";
import type { SchedulerProcess } from "../scheduler-process.ts";
import type { System } from "../system.ts";
import { isStopped } from "../stopped.ts";
import { elapsedMs, letPass, until } from "../until.ts";

const together = 50;
const quickLeaseMs = 2_000;
const turnMsMax = 1_000;
/** Stopped there, it goes on with a write and not with a heartbeat: only its token can hold it back. */
const stopAtTick = 4;

/** Fifty scheduler tasks want one lock; then its holder is stopped, outside and inside of a transaction. */
export const schedulers50: Proof = {
  name: "schedulers-50",
  about: "50 schedulers at once, and a holder stopped in and out of a transaction: one at a time in fenced writes",
  guards: ["fence"],
  async run(context, list) {
    const { system, sessions, fleet, installedAt } = await beginAudited(context, {});
    await allTogether(list, { system, sessions }, Math.max(2, Math.round(together * context.size)));
    context.log("all together: over");
    const lock = watchLock(system);
    const outside = system.scheduler({
      ...holding(sessions, "outside"),
      BELFRY_CRASH_POINT: `tick.beforeCommit:${stopAtTick}:stop`,
    });
    await until("the holder to stand still between two transactions", 60_000, () => isStopped(outside.pid));
    const second = await takeOver(list, { system, sessions, lock }, outside, "outside a transaction");
    await stopInside(system, second);
    const third = await takeOver(list, { system, sessions, lock }, second, "inside a transaction");
    // The stopped holder stays stopped while the new one makes passes.
    await letPass(2_000);
    await third.stop();
    await system.untilNone("everything dispatched to run", 60_000, unfinished);
    await fleet.stop();
    const audit = await readAudit(system.pool);
    const tables = await judge(list, system, { fenced: fencedWrites(audit) });
    assessEverySecond(list, tables, installedAt);
    list.figure(
      `${audit.filter((row) => row.what !== "install").length} fenced writes by ${new Set(audit.map((row) => row.process)).size} processes`,
    );
  },
};

interface Parts {
  readonly system: System;
  readonly sessions: Sessions;
}

async function allTogether(list: Checklist, { system, sessions }: Parts, count: number): Promise<void> {
  const startedMs = elapsedMs();
  const tasks = Array.from({ length: count }, (_, n) =>
    system.scheduler({
      BELFRY_PASS_MS: "300000",
      NODE_OPTIONS: system.nodeOptions("--max-old-space-size=64"),
      ...sessions.of(`together ${n + 1}`),
    }),
  );
  await until("all but one to be gone", 300_000, () => tasks.filter((task) => task.exitCode() === null).length === 1);
  const seconds = (elapsedMs() - startedMs) / 1_000;
  const holders = tasks.filter((task) => task.exitCode() === null);
  const others = tasks.filter((task) => task.exitCode() !== null);
  await Promise.all(others.map((task) => task.ended));
  list.expectIs("one holds the lock", holders.length, 1);
  list.expectNone(
    "the others end with 0",
    others.filter((task) => task.exitCode() !== 0).map((task) => `${task.exitCode()}`),
  );
  list.expectNone(
    "the others say who holds it",
    others
      .filter((task) => !task.plainLines().some((line) => line.startsWith("held by ")))
      .map((task) => task.plainLines().join(" ")),
  );
  await Promise.all(holders.map((task) => task.stop()));
  list.expect(
    "the holder made passes",
    holders.every((task) => (task.report()?.passes ?? 0) > 0),
  );
  list.figure(`${count} tasks: all but one gone after ${seconds.toFixed(0)} s`);
}

/** When the lock was last taken, as the lock store's clients see it. */
function watchLock(system: System): { takenMs(): number } {
  let takenMs = 0;
  system.proxies.dynamodb?.judge(({ operation, body }) => {
    if (operation === "UpdateItem" && body.includes("ADD #fence")) takenMs = elapsedMs();
    return pass;
  });
  return { takenMs: () => takenMs };
}

const holding = (sessions: Sessions, name: string): Readonly<Record<string, string>> => ({
  BELFRY_PASS_MS: "300000",
  BELFRY_LOCK_LEASE_MS: String(quickLeaseMs),
  ...sessions.of(name),
});

const writesOf = (system: System, user: string): Promise<number> =>
  system.count("proof.fenced where process = $1 and what <> 'install'", [user]);

const sessionStates =
  "select state, wait_event_type from pg_stat_activity where datname = current_database() and application_name = 'belfry scheduler'";

/**
 * Makes its plan wait to write the ledger, stops it there and lets the statement end: the server then waits for a process that
 * does not answer, in a transaction that holds the lock's name.
 */
async function stopInside(system: System, task: SchedulerProcess): Promise<void> {
  const client = await system.pool.connect();
  try {
    await until("the holder to stand still in a transaction", 60_000, async () => {
      await client.query("begin");
      await client.query("lock table belfry.occurrence in share mode");
      const waits = await until("the holder to wait for the ledger", 10_000, async () => {
        const rows = await system.rows(sessionStates);
        return rows.some(({ wait_event_type }) => wait_event_type === "Lock");
      });
      task.signal("SIGSTOP");
      await client.query("rollback");
      // A stop signal takes a moment; the transaction it may have met is given up and tried again.
      await letPass(100);
      const rows = await system.rows(sessionStates);
      if (waits && rows.some(({ state }) => state === "idle in transaction")) return true;
      task.signal("SIGCONT");
      return false;
    });
  } finally {
    client.release();
  }
}

/** The next task waits out the lease, takes the lock, and installs its token at once; then the old one goes on. */
async function takeOver(
  list: Checklist,
  { system, sessions, lock }: Parts & { lock: { takenMs(): number } },
  old: SchedulerProcess,
  where: string,
): Promise<SchedulerProcess> {
  const name = `after-${where.split(" ")[0]}`;
  const next = system.scheduler(holding(sessions, name));
  const installedMs = await until(
    "the next holder to install its token",
    60_000,
    () =>
      system.processes.histories.find(
        (line) => line.history === "fence" && line.pid === next.pid && line.before < line.token,
      )?.atMs,
  );
  const turnMs = installedMs - lock.takenMs();
  list.expectAtMost(`stopped ${where}: the new holder installs within a second of its turn`, turnMs, turnMsMax, " ms");
  list.figure(`stopped ${where}: installed ${turnMs.toFixed(0)} ms after its turn`);
  await until("the new holder to make a pass", 30_000, async () => (await writesOf(system, sessions.userOf(name))) > 2);
  old.signal("SIGCONT");
  const end = await old.ended;
  list.expectIs(`stopped ${where}: the old holder ends with 0`, end.code, 0);
  list.expectIs(`stopped ${where}: the old holder knows that it lost`, old.report()?.outcome, "fence-lost");
  return next;
}

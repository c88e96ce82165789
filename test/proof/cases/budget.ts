import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assessSuccess, judge } from "../judge.ts";
import { killNowAndThen } from "../killer.ts";
import { type Proof, seeded } from "../proof.ts";
import { startSystem } from "../system.ts";
import { letPass, until } from "../until.ts";
import { sendAgain } from "./transfers.ts";

const workers = 4;
const perSecond = 20;
const [usualSeconds, downSeconds] = [60, 20];
const share = 0.2;

/** A target that goes down under its usual load, and four workers that die. */
export const budgetProof: Proof = {
  name: "budget",
  about: `${perSecond} jobs a second, whose target goes down for ${downSeconds} s, 2 % of the messages twice, random kill -9: at most 1.2 times the usual calls, 0 retries lost`,
  guards: ["retry-budget"],
  async run(context, list) {
    const random = seeded(context.seed);
    const down = join(context.folder, "down");
    const system = await startSystem(context, {
      app: "budget",
      lane: () => ({ visibilityTimeoutSeconds: 4, concurrency: workers }),
    });
    await system.install();
    const wakes = system.wakes({ everyMs: 0 });
    const fleet = system.fleet({ deadLetters: true });
    let n = 0;
    const load = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        const page = Array.from({ length: perSecond }, () => ({ payload: { n: (n += 1), down } }));
        const answers = await system.enqueue("charge", page);
        await sendAgain(
          system,
          answers.flatMap(({ id }) => (random() < 0.02 ? id : [])),
        );
        await letPass(1_000); // The usual load.
      }
    };
    await load(usualSeconds);
    writeFileSync(down, "");
    const killer = killNowAndThen(system, fleet.pids, { everyMs: 4_000, random });
    const before = n;
    await load(downSeconds);
    rmSync(down);
    killer.stop();
    const calls = system.ledger.read().length;
    const first = n - before;
    await until("all jobs to end", 400_000, async () => (await system.openJobs()) === 0);
    await wakes.stop();
    await fleet.stop();
    const tables = await judge(list, system, {});
    assessSuccess(list, tables.jobs);
    const retries = await system.count("belfry.history where reason in ('retry', 'retry budget')");
    list.expect("the target was called", calls >= first / 2, calls);
    list.expect(
      "at most 1.2 times the usual calls, and what a kill repeats",
      calls <= first * (1 + share) + killer.count() * 4,
      calls,
    );
    list.expect("retries waited", retries > 0, retries);
    list.expect("workers were killed", killer.count() > 0, killer.count());
    list.figure(
      `${calls} calls for ${first} jobs while it was down: ${(calls / first).toFixed(2)} x; ${retries} retries, ${killer.count()} workers killed`,
    );
  },
};

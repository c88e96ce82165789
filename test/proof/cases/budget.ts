import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startHunted } from "../hunted.ts";
import { numbered } from "../load.ts";
import type { Proof } from "../proof.ts";
import { letPass } from "../until.ts";

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
    const down = join(context.folder, "down");
    const hunted = await startHunted(context, {
      app: "budget",
      lane: () => ({ visibilityTimeoutSeconds: 4, concurrency: workers }),
    });
    const { system } = hunted;
    let n = 0;
    const load = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        await hunted.enqueue("charge", numbered(perSecond, n, { down }));
        n += perSecond;
        await letPass(1_000); // The usual load.
      }
    };
    await load(usualSeconds);
    writeFileSync(down, "");
    hunted.kill(4_000);
    const before = n;
    await load(downSeconds);
    rmSync(down);
    hunted.endKills();
    const calls = system.ledger.read().length;
    const first = n - before;
    await hunted.succeeded(list);
    const retries = await system.count("belfry.history where reason in ('retry', 'retry budget')");
    list.expect("the target was called", calls >= first / 2, calls);
    list.expectAtMost(
      "at most 1.2 times the usual calls, and what a kill repeats",
      calls,
      first * (1 + share) + hunted.kills() * 4,
    );
    list.expect("retries waited", retries > 0, retries);
    list.figure(
      `${calls} calls for ${first} jobs while it was down: ${(calls / first).toFixed(2)} x; ${retries} retries, ${hunted.seen()}`,
    );
  },
};

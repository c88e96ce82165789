import { judge } from "../judge.ts";
import { killOne } from "../killer.ts";
import { type Proof, seeded } from "../proof.ts";
import { startInstalled } from "../system.ts";
import { until } from "../until.ts";
import { together } from "./overlap-catch-up.ts";

const killsMax = 14;

/** Each time cancels the job of the one before, whose handler goes on for a while; workers die, also between the look and the cancel. */
export const overlapCancel: Proof = {
  name: "overlap-cancel",
  about:
    "cancel-running and queue-all under kill -9, also in the middle of a cancel: never two at once, the latest runs, none in line is lost",
  guards: ["handler-gone"],
  async run(context, list) {
    const random = seeded(context.seed);
    const system = await startInstalled(context, {
      app: "overlap-cancel",
      lane: () => ({ visibilityTimeoutSeconds: 4 }),
      env: { BELFRY_DISPATCH_WINDOW_MS: "1000" },
    });
    const crashes = ["replace.looked:2", "replace.canceled:2"];
    const { fleet, stop } = system.work({
      deadLetters: true,
      envOf: (ordinal): Record<string, string> => {
        const point = ordinal % 3 === 0 ? crashes[(ordinal / 3) % 2] : undefined;
        return point === undefined ? {} : { BELFRY_CRASH_POINT: point };
      },
    });
    const kills = Math.max(2, Math.round(killsMax * context.size));
    const replacedOf = (): Promise<number> =>
      system.count(
        "belfry.history where reason = 'replaced' and to_state = 'CANCELED' and caller like 'schedule newest%'",
      );
    for (let killed = 0; killed < kills; killed += 1) {
      const before = await replacedOf();
      await until("a later time to replace another", 60_000, async () => (await replacedOf()) > before);
      await killOne(system, fleet.pids("default"), random);
    }
    const line = "belfry.job where kind = 'count' and state < 'SUCCESS' and due_at < belfry.now() - interval '8 s'";
    await system.untilNone("the line to be short", 100_000, line);
    await stop();
    const replaced = await replacedOf();
    const tables = await judge(list, system, { endedBefore: 0, keepsAll: ["lined"], keepsLatest: ["newest"] });
    const scheduleOf = new Map(tables.jobs.map((job) => [job.id, job.scheduleId ?? ""]));
    const pairs = together(system.ledger.read(), scheduleOf);
    list.expectNone("two jobs of a schedule never run at once, by the target's own ledger", pairs);
    list.expect("jobs were replaced", replaced >= kills, replaced);
    list.figure(
      `${kills} workers killed, ${replaced} jobs replaced, ${system.ledger.read().length} calls, ${pairs.length} pairs at once`,
    );
  },
};

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Hunted, startHunted } from "../hunted.ts";
import { numbered } from "../load.ts";
import type { Checklist, Proof } from "../proof.ts";
import type { System } from "../system.ts";
import { until } from "../until.ts";

const jobs = 2_000;
const workers = 4;
const probes = 3;
const [overMs, pauseMs] = [10_000, 3_000];
/** A probe that fails begins the next pause, and one whose worker died comes again when its lease is over. */
const apartMsMin = 2_000;

/** A target that is down, called by four workers that die. */
export const circuitProof: Proof = {
  name: "circuit",
  about: `${workers} workers, 2,000 jobs whose target is down for ${probes} probes, 2 % of the messages twice, random kill -9: opens in time, then one probe a pause, 0 jobs fail`,
  guards: ["circuit", "one-probe"],
  async run(context, list) {
    const down = join(context.folder, "down");
    const hunted = await startHunted(context, {
      app: "circuit",
      lane: () => ({ visibilityTimeoutSeconds: 4, concurrency: workers }),
    });
    const { system } = hunted;
    writeFileSync(down, "");
    const count = Math.round(jobs * context.size);
    await hunted.enqueue("charge", numbered(count, 0, { down }));
    hunted.kill(2_000);
    await until("the circuit to open, or jobs to fail", 60_000, async () => {
      const ended = await system.count("belfry.job where state = 'FAILED'");
      return ended > 0 || (await system.count("belfry.circuit where open_until is not null")) > 0;
    });
    const opened = await openedAt(system);
    await until("some probes", 240_000, () => callsFrom(system, opened + pauseMs).length >= probes);
    const healedAt = Date.now();
    rmSync(down);
    await hunted.succeeded(list);
    await assessCalls(list, hunted, healedAt);
  },
};

async function openedAt({ rows }: System): Promise<number> {
  const [circuit] = await rows<{ at: number }>("select belfry.ms(opened_at)::float8 as at from belfry.circuit");
  return circuit?.at ?? 0;
}

/** Calls of the target while it was down. */
const callsFrom = ({ ledger }: System, from: number) =>
  ledger.read().filter(({ what, note, at }) => what === "start" && note.endsWith("down") && at > from);

async function assessCalls(list: Checklist, { system, seen }: Hunted, healedAt: number): Promise<void> {
  const { failures, refusals } = await system.row<{ failures: number; refusals: number }>(`
    select sum(failures)::int as failures,
      (select coalesce(sum(cardinality(job_ids)), 0)::int from belfry.event where reason = 'circuit open') as refusals
    from belfry.job`);
  const opened = await openedAt(system);
  const whileDown = callsFrom(system, 0);
  const first = whileDown[0]?.at ?? 0;
  const whileOpen = whileDown.filter(({ at }) => at > opened + pauseMs && at < healedAt);
  const apartMs = Math.min(...whileOpen.slice(1).map(({ at }, n) => at - (whileOpen[n]?.at ?? 0)));
  const tookMs = opened - first;
  list.expect("it opened within its time and 2 s", opened > 0 && tookMs <= overMs + 2_000, tookMs);
  list.expect("jobs were held", refusals > 0, refusals);
  list.expect("while it is open, its calls are apart", apartMs >= apartMsMin, apartMs);
  list.expect("there were probes", whileOpen.length > 1, whileOpen.length);
  list.expect("only calls used up tries", failures <= whileDown.length, `${failures} of ${whileDown.length}`);
  list.figure(
    `opened ${(tookMs / 1_000).toFixed(1)} s after the first call, ${whileDown.length} calls while it was down, of which ${whileOpen.length} were probes, ${apartMs} ms apart, in ` +
      `${((healedAt - opened) / 1_000).toFixed(0)} s, ${refusals} arrivals held, ${seen()}`,
  );
}

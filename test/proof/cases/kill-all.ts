import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Pool } from "pg";
import { type LocalSystem, startLocal } from "../../../src/local/system.ts";
import type { Evidence, Judge } from "../../demo/judge.ts";
import { demoTime, judges } from "../../demo/judges.ts";
import { type Checklist, type Proof, type ProofContext, seeded } from "../proof.ts";
import { preload } from "../system.ts";
import { elapsedMs, letPass, until } from "../until.ts";

const kills = 20;
const betweenMs = { min: 2_000, more: 6_000 };
const endMsMax = 280_000;

/** What cannot hold when targets die too, and why. Everything else the judges of the demonstration check must. */
const notUnderKills: Readonly<Record<string, string>> = {
  "the oldest starve no other: each message was tried once before any was tried again":
    "a kill between a publish and its row repeats it at once",
  "every good message reached the queue's consumer and is PUBLISHED":
    "the broker's own queue is in memory, and what it had taken dies with it",
  "openings wait for no mail server: half of them within 60 s":
    "each power cut lasts minutes of the compressed time, and nothing opens then",
  "open pages saw each notification once, in order, although their connections were cut":
    "the pages of this case are opened once, and the API they were connected to is gone",
};

/** The power goes: every process at once, the examples' targets and Postgres too, again and again. */
export const killAll: Proof = {
  name: "kill-all",
  about: "kill -9 of every process at once, 20 times, with all examples running: their ledgers reconcile",
  guards: ["rescue"],
  async run(context, list) {
    const home = join(context.folder, "home");
    mkdirSync(home, { recursive: true });
    let system = await start(home, context);
    const { api } = system.urls;
    const downMs: number[] = [];
    try {
      await Promise.all(judges.map((judge) => begun(judge, api ?? "")));
      for (const afterMs of plan(context)) {
        await letPass(afterMs);
        const startedMs = elapsedMs();
        await system.kill();
        system = await start(home, context);
        downMs.push(elapsedMs() - startedMs);
      }
      await judgeAll(list, system, context);
    } finally {
      await system.kill();
    }
    list.figure(`${downMs.length} kills, up again after ${(Math.max(...downMs) / 1_000).toFixed(1)} s at the latest`);
  },
};

/** People who get no answer ask again: a job's key makes one job of all of their requests. */
const begun = ({ name, begin }: Judge, api: string): Promise<true> =>
  until(`${name} to take its requests`, 60_000, async () => {
    return (
      (await begin?.(api).then(
        () => true,
        () => false,
      )) ?? true
    );
  });

function plan({ seed, size }: ProofContext): readonly number[] {
  const random = seeded(seed);
  const count = Math.max(2, Math.round(kills * size));
  return Array.from({ length: count }, () => betweenMs.min + random() * betweenMs.more);
}

const start = (home: string, { without, scale }: ProofContext): Promise<LocalSystem> =>
  startLocal({
    home,
    stage: "demo",
    timeScale: scale ?? demoTime.scale,
    environment: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      TZ: process.env["TZ"],
      BELFRY_TIME_START: demoTime.startsAt,
      ...(without === null ? {} : { NODE_OPTIONS: preload, BELFRY_PROOF_WITHOUT: without }),
    },
    without: ["watch"],
  });

async function judgeAll(list: Checklist, system: LocalSystem, { log }: ProofContext): Promise<void> {
  const db = new Pool({ connectionString: system.urls.database, max: 2 });
  db.on("error", () => {});
  const evidence: Evidence = { db, ledgers: join(system.home, "fakes") };
  try {
    const complete = await untilComplete(evidence, log);
    for (const judge of judges) {
      list.expect(`${judge.name} is complete`, complete.has(judge), (await judge.progress(evidence)).line);
      for (const check of await judge.checks(evidence))
        if (!(check.name in notUnderKills)) list.expect(`${judge.name}: ${check.name}`, check.pass, check.detail);
    }
    list.figure(await repeats(db));
  } finally {
    await db.end();
  }
}

async function untilComplete(evidence: Evidence, log: (text: string) => void): Promise<ReadonlySet<Judge>> {
  const complete = new Set<Judge>();
  await until("the examples to be complete", endMsMax, async () => {
    for (const judge of judges.filter((each) => !complete.has(each))) {
      const { done, line } = await judge.progress(evidence);
      if (!done) continue;
      log(`${judge.name}: ${line}`);
      complete.add(judge);
    }
    return complete.size === judges.length;
  }).catch(() => false);
  return complete;
}

async function repeats(db: Pool): Promise<string> {
  const { rows } = await db.query<{ lost: number; jobs: number }>(
    `select count(*) filter (where error_code = 'WORKER_LOST')::int as lost, count(distinct job_id)::int as jobs from belfry.attempt`,
  );
  return `${rows[0]?.jobs ?? 0} jobs, ${rows[0]?.lost ?? 0} tries lost with their process`;
}

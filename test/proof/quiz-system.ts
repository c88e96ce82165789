/** The daily quiz with as many users as a case wants, its push service and its people, in compressed time. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fakes } from "../../examples/fakes.ts";
import { Children } from "../../src/local/process/children.ts";
import { compressTime } from "../../src/local/setup/compressed-time.ts";
import { type Fakes, startFakes } from "../../src/local/fakes.ts";
import { type QuizSize, quizJudge } from "../demo/daily-quiz.ts";
import type { Evidence, Judge } from "../demo/judge.ts";
import type { ProofContext } from "./proof.ts";
import { startSystem, type System } from "./system.ts";

export interface QuizSystem {
  readonly system: System;
  readonly judge: Judge;
  readonly evidence: Evidence;
  stop(): Promise<void>;
}

const folderOf = new URL("../../examples/daily-quiz/migrations/", import.meta.url);
const migrations = globSync(`${fileURLToPath(folderOf)}*.sql`)
  .toSorted()
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");

export const quizScale = 10;
/** Two minutes before the targets are written, ten before the quiz. */
const startsAt = "22:48";

export async function startQuiz(
  size: QuizSize,
  context: ProofContext,
  name: string,
  options: { scale: number; workers: number },
): Promise<QuizSystem> {
  const folder = join(context.folder, name);
  const children = new Children(folder);
  const sizes = { QUIZ_USERS: String(size.users), QUIZ_MOOD: size.mood };
  const outside = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...sizes };
  const start = (wanted: string, env: Readonly<Record<string, string>>): Promise<Fakes> => {
    const chosen = fakes.filter((one) => one.name === wanted).map((one) => ({ ...one, file: fileURLToPath(one.file) }));
    return startFakes(chosen, { children, home: folder, env: { ...outside, ...env } });
  };
  const push = await start("daily-quiz-push", {});
  const targets = [push];
  const system = await startSystem(context, {
    app: "daily-quiz",
    sql: migrations,
    env: { ...push.env, BELFRY_TIME_SCALE: String(options.scale) },
    lane: ({ name: lane }) => (lane === "push" ? { concurrency: options.workers } : {}),
    endBeside: async () => void (await Promise.all(targets.map((target) => target.stop()))),
  });
  const env = { DATABASE_URL: system.databaseUrl, BELFRY_STAGE: "demo", AWS_REGION: "us-east-1" };
  await start("daily-quiz-seed", env);
  await compressTime(system.databaseUrl, { scale: options.scale, startsAt });
  targets.push(await start("daily-quiz-people", env));
  await system.install();
  return {
    system,
    judge: quizJudge(size),
    evidence: { db: system.pool, ledgers: join(folder, "fakes") },
    stop: () => system.stop(),
  };
}

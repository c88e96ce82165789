/** A good save and a bad one that follows it at every moment of the reload: what runs, what is said, and what is missed. */
import { isDeepStrictEqual } from "node:util";
import type { TestStore } from "../support/looks.ts";
import { type RacingApp, type Role, roles, schedules } from "./racing-app.ts";

export interface RacingSystem {
  readonly app: RacingApp;
  readonly api: string;
  readonly store: TestStore;
  /** What `npm start --json` has written. */
  readonly lines: readonly Record<string, unknown>[];
  until<T>(what: string, condition: () => T | Promise<T>): Promise<Exclude<T, false | null | undefined>>;
}

const stages: readonly (Role | "setup's end")[] = ["setup", "setup's end", ...roles.filter((role) => role !== "setup")];
const file = "app.ts";
const parts = "scheduler, API, lane default, lane mail";
const cannotCompile = "SyntaxError";

/** @returns what did not hold, a sentence each. The app has version `0` at the beginning. */
export async function raceReloads(system: RacingSystem): Promise<readonly string[]> {
  const { app } = system;
  const wrong: string[] = [];
  const stage = async (name: string, save: () => void, expected: Expected): Promise<void> => {
    const from = system.lines.length;
    save();
    wrong.push(...(await judge(system, expected, from)).map((what) => `${name}: ${what}`));
  };
  await stage("bad before setup reads", () => (app.save("1"), app.saveBad()), {
    version: "0",
    says: ["problem"],
    why: cannotCompile,
  });
  for (const [index, badFrom] of stages.entries()) {
    const version = String(index + 2);
    const save = (): void => app.save(version, { badFrom });
    await stage(`bad when ${badFrom} reads`, save, { version, says: ["reloaded", "problem"], why: cannotCompile });
  }
  const last = String(stages.length + 1);
  await stage("a worker alone cannot load it", () => app.save("half", { failsIn: "worker mail" }), {
    version: last,
    says: ["problem"],
    why: "its process exited with code 1",
    isInstalled: true,
  });
  await stage("good at last", () => app.save("end"), { version: "end", says: ["reloaded"], why: null });
  return [...wrong, ...(await gaps(system))];
}

interface Expected {
  /** That every part runs afterwards. */
  readonly version: string;
  readonly says: readonly string[];
  /** Part of the reason of the last refusal. */
  readonly why: string | null;
  /** The schedules of the refused save are there. */
  readonly isInstalled?: boolean;
}

async function judge(system: RacingSystem, expected: Expected, from: number): Promise<readonly string[]> {
  const { app, api, store, until } = system;
  const news = (): readonly Record<string, unknown>[] =>
    system.lines.slice(from).filter(({ is, from: by }) => is === "reloaded" || (is === "problem" && by === file));
  const isSaid = (): boolean => news().length >= expected.says.length;
  await until(`${expected.says.length} outcomes of a save`, isSaid).catch(() => null);
  const wrong: string[] = [];
  const said = news().map(({ is }) => is);
  if (!isDeepStrictEqual(said, expected.says)) wrong.push(`it said ${JSON.stringify(news())}`);
  const wanted = Object.fromEntries(roles.filter((role) => role !== "setup").map((role) => [role, [expected.version]]));
  const isSettled = (): boolean => {
    const { setup: _, ...running } = app.running();
    // Between two scheduler tasks there is none for some seconds.
    return isDeepStrictEqual({ scheduler: [expected.version], ...running }, wanted);
  };
  await until(`every part to run ${expected.version}`, isSettled).catch(() =>
    wrong.push(`${JSON.stringify(app.running())} run in place of ${expected.version}`),
  );
  const afterMs = await store.now();
  for (const schedule of schedules) {
    await until(`${schedule} to run ${expected.version}`, () =>
      hasRun(store, schedule, expected.version, afterMs),
    ).catch(() => wrong.push(`${schedule} does not run ${expected.version}`));
  }
  return [...wrong, ...wordsOff(expected, news().at(-1)), ...healthOff(expected, await healthOf(api))];
}

async function hasRun(store: TestStore, scheduleId: string, version: string, afterMs: number): Promise<boolean> {
  const jobs = await store.jobs({ states: ["SUCCESS"], kind: scheduleId });
  return jobs.some(({ dueAt, result }) => dueAt >= afterMs && JSON.stringify(result).includes(`"said":"${version}"`));
}

function wordsOff(
  { why, isInstalled = false }: Expected,
  last: Record<string, unknown> | undefined,
): readonly string[] {
  if (why === null) return [];
  const what = String(last?.["what"]);
  const pattern =
    /^cannot be used, so the code of \d\d:\d\d:\d\d UTC runs on in (.+?)(, with the schedules, .* at \d\d:\d\d:\d\d UTC)?$/;
  const [, by, installed] = pattern.exec(what) ?? [];
  const isTrue = by === parts && (installed !== undefined) === isInstalled && String(last?.["error"]).includes(why);
  return isTrue ? [] : [`its words are not true: ${what}: ${String(last?.["error"])}`];
}

interface Health {
  readonly code?: {
    readonly version: string;
    readonly definitions: { readonly version: string };
    readonly refused: { readonly file: string; readonly problem: string } | null;
  };
}

const healthOf = async (api: string): Promise<Health> => (await (await fetch(`${api}/health`)).json()) as Health;

function healthOff({ why, isInstalled = false }: Expected, { code }: Health): readonly string[] {
  const isRefusal = why === null ? code?.refused === null : code?.refused?.problem.includes(why) === true;
  const isHonest = isRefusal && (code?.version !== code?.definitions.version) === isInstalled;
  return isHonest ? [] : [`/health says ${JSON.stringify(code)}`];
}

/** Every second has its job, and each has run. */
async function gaps({ store, until }: RacingSystem): Promise<readonly string[]> {
  const wrong: string[] = [];
  const endMs = await store.now();
  for (const schedule of schedules) {
    const rows = await until(`the times of ${schedule} to be decided`, async () => {
      const due = (await store.occurrences(schedule)).filter(({ nominalAt }) => nominalAt <= endMs);
      return due.every(({ outcome }) => outcome !== "PLANNED") ? due.toReversed() : null;
    });
    for (const [index, { nominalAt, outcome }] of rows.entries()) {
      const before = rows[index - 1]?.nominalAt ?? nominalAt - 1_000;
      if (nominalAt - before !== 1_000) wrong.push(`${schedule} has nothing between ${before} and ${nominalAt}`);
      if (outcome !== "FIRED" && outcome !== "CAUGHT_UP") wrong.push(`${schedule} at ${nominalAt} is ${outcome}`);
    }
  }
  return wrong;
}

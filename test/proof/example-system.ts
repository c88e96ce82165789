/** One example with its fakes and its API, on the parts of a proof. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Fake } from "../../examples/fake.ts";
import { fakesOf } from "../../examples/fakes.ts";
import { startApi } from "../../src/local/api-process.ts";
import { Children } from "../../src/local/process/children.ts";
import { compressTime } from "../../src/local/setup/compressed-time.ts";
import { startFakes, type Fakes } from "../../src/local/fakes.ts";
import type { Evidence } from "../demo/judge.ts";
import type { ProofContext } from "./proof.ts";
import { startSystem, type System, type SystemOptions } from "./system.ts";

export interface ExampleOptions extends Pick<SystemOptions, "lane" | "proxied" | "postgresPort"> {
  /** Of the example, and of the file in `test/proof/app` that has its definitions. */
  readonly name: string;
  /** Names the folder, when a case starts several. */
  readonly label: string;
  readonly scale: number;
  /** `HH:MM` in UTC, at which the system's time begins. */
  readonly startsAt?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly fakeEnv?: Readonly<Record<string, string>>;
  /** Its fakes that look into the database, and its seed where it is wanted: they start when it is there. */
  readonly onDatabase?: readonly string[];
}

export interface ExampleSystem {
  readonly system: System;
  readonly evidence: Evidence;
  /** The address of an API process. */
  readonly api: string;
  stop(): Promise<void>;
}

/** The example's tables, targets, workers' world and API; no worker and no scheduler yet. */
export async function startExample(context: ProofContext, options: ExampleOptions): Promise<ExampleSystem> {
  const folder = join(context.folder, options.label);
  const children = new Children(folder);
  const { PATH = "", HOME = "" } = process.env;
  const scaled = { BELFRY_TIME_SCALE: String(options.scale) };
  const fakes = fakesOf(options.name).map((one) => ({ ...one, file: fileURLToPath(one.file) }));
  const { onDatabase = [] } = options;
  const start = (
    isWanted: (fake: Pick<Fake, "name" | "once">) => boolean,
    env: Readonly<Record<string, string>>,
  ): Promise<Fakes> => {
    const settings = { PATH, HOME, ...options.fakeEnv, ...env };
    return startFakes(fakes.filter(isWanted), { children, home: folder, env: settings });
  };
  const targets = await start(({ name, once }) => !once && !onDatabase.includes(name), scaled);
  const running = [targets];
  const system = await startSystem(context, {
    app: options.name,
    sql: migrationsOf(options.name),
    env: { ...targets.env, ...scaled, ...options.env },
    endBeside: async () => void (await Promise.all(running.map((each) => each.stop()))),
    ...(options.lane === undefined ? {} : { lane: options.lane }),
    ...(options.proxied === undefined ? {} : { proxied: options.proxied }),
    ...(options.postgresPort === undefined ? {} : { postgresPort: options.postgresPort }),
  });
  const own = { DATABASE_URL: system.databaseUrl, BELFRY_STAGE: "demo", AWS_REGION: "us-east-1" };
  running.push(await start(({ name }) => onDatabase.includes(name), own));
  await compressTime(system.databaseUrl, { scale: options.scale, startsAt: options.startsAt ?? null });
  await system.install();
  const api = await startApi({ children: system.processes, env: system.env, ports: [0] });
  return {
    system,
    api: api.url,
    evidence: { db: system.pool, ledgers: join(folder, "fakes") },
    async stop() {
      await api.stop();
      await system.stop();
    },
  };
}

function migrationsOf(example: string): string {
  const folder = fileURLToPath(new URL(`../../examples/${example}/migrations/`, import.meta.url));
  return globSync(`${folder}*.sql`)
    .toSorted()
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
}

/** One example with its fakes and its API, on the parts of a proof. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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
  readonly env?: Readonly<Record<string, string>>;
  readonly fakeEnv?: Readonly<Record<string, string>>;
}

export interface ExampleSystem {
  readonly system: System;
  readonly evidence: Evidence;
  /** The address of an API process. */
  readonly api: string;
  stop(): Promise<void>;
}

/** The example's tables, targets, workers' world and API; no worker and no scheduler yet, and no seed. */
export async function startExample(context: ProofContext, options: ExampleOptions): Promise<ExampleSystem> {
  const folder = join(context.folder, options.label);
  const children = new Children(folder);
  const { PATH = "", HOME = "" } = process.env;
  const scaled = { BELFRY_TIME_SCALE: String(options.scale) };
  const fakes: Fakes = await startFakes(
    fakesOf(options.name)
      .filter(({ once }) => !once)
      .map((one) => ({ ...one, file: fileURLToPath(one.file) })),
    { children, home: folder, env: { PATH, HOME, ...scaled, ...options.fakeEnv } },
  );
  const system = await startSystem(context, {
    app: options.name,
    sql: migrationsOf(options.name),
    env: { ...fakes.env, ...scaled, ...options.env },
    endBeside: () => fakes.stop(),
    ...(options.lane === undefined ? {} : { lane: options.lane }),
    ...(options.proxied === undefined ? {} : { proxied: options.proxied }),
    ...(options.postgresPort === undefined ? {} : { postgresPort: options.postgresPort }),
  });
  await compressTime(system.databaseUrl, { scale: options.scale, startsAt: null });
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

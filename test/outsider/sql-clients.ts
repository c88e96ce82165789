import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../proof/until.ts";
import type { Check } from "./check.ts";
import { npmTools, pythonTools, run } from "./tools.ts";
import type { Target } from "./world.ts";

const guide = fileURLToPath(new URL("../../docs/guides/other-languages.md", import.meta.url));
const endMsMax = 60_000;

interface Recipe {
  readonly language: "python" | "typescript";
  readonly name: string;
  readonly code: string;
}

/** Each block of the guide whose first line names a library. */
const recipes = (): readonly Recipe[] =>
  [...readFileSync(guide, "utf8").matchAll(/```(python|typescript)\n(?:#|\/\/) (.+)\n([\s\S]*?)```/g)].map(
    ([, language, name = "", code = ""]) => ({ language: language as Recipe["language"], name, code }),
  );

/** Runs the recipe as it stands in the guide. @returns what went wrong, or null. */
async function failureOf({ language, name, code }: Recipe, { database }: Target): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-recipe-"));
  try {
    const file = join(folder, language === "python" ? "recipe.py" : "recipe.ts");
    writeFileSync(file, code);
    if (language === "typescript") {
      symlinkSync(join(await npmTools(), "node_modules"), join(folder, "node_modules"));
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
      const failure = name === "Prisma" ? await generatePrisma(folder) : null;
      if (failure !== null) return failure;
    }
    const python = language === "python" ? await pythonTools() : null;
    if (python !== null && "missing" in python) return python.missing;
    const program = python === null ? process.execPath : join(python.bin, "python");
    const ran = await run(program, [file], { cwd: folder, env: { ...process.env, DATABASE_URL: database } });
    return ran.code === 0 ? null : ran.output.slice(-400);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Its generator asks for the engine of migrations, which it does not run: any file stands for it, so that nothing is downloaded. @returns as `failureOf`. */
async function generatePrisma(folder: string): Promise<string | null> {
  const [, schema = ""] = /```prisma\n([\s\S]*?)```/.exec(readFileSync(guide, "utf8")) ?? [];
  writeFileSync(join(folder, "schema.prisma"), schema);
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
  const made = await run(process.execPath, ["node_modules/prisma/build/index.js", "generate"], { cwd: folder, env });
  return made.code === 0 ? null : made.output.slice(-400);
}

async function hasSucceeded(url: string, to: string): Promise<boolean> {
  const query = new URLSearchParams({ kind: "send-mail", state: "SUCCESS", "payload.to": to });
  const { jobs } = (await (await fetch(`${url}/jobs?${query.toString()}`)).json()) as { jobs: readonly unknown[] };
  return jobs.length === 1;
}

/** What `docs/guides/other-languages.md` asks a program of another language to do, in a transaction of its own. */
export const sqlClientsCheck: Check = {
  name: "enqueue in SQL, by the recipes of the guide",
  async missing() {
    const python = await pythonTools();
    return "missing" in python ? python.missing : null;
  },
  async run(target) {
    const findings: string[] = [];
    for (const recipe of recipes()) {
      // A job of an earlier look has the address too.
      const to = `${randomUUID()}@example.org`;
      const code = recipe.code.replaceAll(`${recipe.name.toLowerCase()}@example.org`, to);
      const failure = await failureOf({ ...recipe, code }, target);
      const isDone =
        failure === null && (await until("it", endMsMax, () => hasSucceeded(target.url, to)).catch(() => false));
      if (failure !== null) findings.push(`${recipe.name}: ${failure}`);
      else if (!isDone) findings.push(`${recipe.name}: its job did not end with SUCCESS`);
    }
    return recipes().length < 6 ? ["the guide has fewer recipes than six"] : findings;
  },
  faults: {
    "a password that the database does not take": (target) => {
      const database = Object.assign(new URL(target.database), { password: "wrong" }).href;
      return { target: { ...target, database } };
    },
  },
};

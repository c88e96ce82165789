import { build } from "esbuild";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Check } from "./check.ts";
import { faultyServer } from "./faulty.ts";
import { type Call, callsOf, prepareIds } from "./operations.ts";
import { npmTools, run } from "./tools.ts";
import type { Target } from "./world.ts";

const hasMembers = ([, value]: readonly [string, object]): boolean => Object.keys(value).length > 0;

/** Its calls, which print a line each, end in a literal: the compiler holds the document's examples to the types that it gave rise to. */
const programOf = (calls: readonly Call[], url: string): string => `import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";
declare const process: { exit(code: number): never };
const client = createClient<paths>({ baseUrl: ${JSON.stringify(url)} });
const say = (name: string, { response, error }: { response: Response; error?: unknown }): void =>
  console.log(JSON.stringify({ name, status: response.status, error }));
${calls
  .map(({ name, method, path, params, query, body, isText }) => {
    const given = Object.fromEntries(Object.entries({ path: params, query }).filter(hasMembers));
    const options = { params: given, ...(body === undefined ? {} : { body }) };
    const more = isText ? ', parseAs: "stream" as const' : "";
    return `say("${name}", await client.${method}("${path}", { ...${JSON.stringify(options)} as const${more} }));`;
  })
  .join("\n")}
process.exit(0);
`;

const compilerOptions = {
  target: "es2024",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2024", "dom", "dom.iterable"],
  types: [],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
};

async function findings(target: Target): Promise<readonly string[]> {
  const ids = await prepareIds(target);
  const calls = callsOf(target.document, ids);
  const tools = await npmTools();
  const folder = mkdtempSync(join(tmpdir(), "belfry-client-"));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const bin = (name: string): string => join(tools, "node_modules/.bin", name);
  try {
    symlinkSync(join(tools, "node_modules"), join(folder, "node_modules"));
    write("package.json", '{"type":"module"}');
    write("openapi.json", JSON.stringify(target.document));
    write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["program.ts"] }));
    const made = await run(bin("openapi-typescript"), ["openapi.json", "-o", "api.d.ts"], { cwd: folder });
    if (made.code !== 0) return [`it generates nothing: ${made.output.slice(-500)}`];
    write("program.ts", programOf(calls, target.url));
    const typed = await run(bin("tsc"), ["-p", folder], { cwd: folder });
    const wrong = typed.code === 0 ? [] : typed.output.trim().split("\n").slice(0, 5);
    await build({
      entryPoints: [join(folder, "program.ts")],
      outfile: join(folder, "program.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
    });
    const ran = await run(process.execPath, ["program.mjs"], { cwd: folder, timeout: 120_000 });
    return [...wrong.map((line) => `a call does not compile: ${line}`), ...judged(calls, ran.output)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every operation answers with one of the statuses that its document gives it. */
export function judged(calls: readonly Call[], output: string): readonly string[] {
  const said = new Map(
    output.split("\n").flatMap((line) => {
      if (!line.startsWith("{")) return [];
      const { name, ...answer } = JSON.parse(line) as { name: string; status?: number; error?: unknown };
      return [[name, answer] as const];
    }),
  );
  const isCut = calls.some(({ name }) => !said.has(name))
    ? [`the client ended early: ${output.trim().slice(-400)}`]
    : [];
  const wrong = calls.flatMap(({ name, statuses }) => {
    const answer = said.get(name);
    if (answer === undefined) return [];
    if (statuses.includes(String(answer.status))) return [];
    return [`${name} answered ${answer.status}: ${JSON.stringify(answer.error)?.slice(0, 300)}`];
  });
  return [...isCut, ...wrong];
}

export const clientCheck: Check = {
  name: "client of openapi-typescript, openapi-fetch",
  run: findings,
  faults: {
    "writes without a body need a content type": (target) =>
      faultyServer(target, {
        before: ({ method, headers }) =>
          method !== "GET" && headers["content-type"] === undefined
            ? { status: 415, body: { code: "not-json" } }
            : null,
      }),
    "a number of the query is documented as a text": (target) => ({
      target: {
        ...target,
        document: JSON.parse(
          JSON.stringify(target.document)
            .replaceAll('"minimum":1,"maximum":500,', '"pattern":"x",')
            .replaceAll('{"type":"integer","pattern":"x"', '{"type":"string","pattern":"x"'),
        ) as Target["document"],
      },
    }),
  },
};

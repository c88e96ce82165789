import { hash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Check } from "./check.ts";
import { faultyServer } from "./faulty.ts";
import { cache, run } from "./tools.ts";
import type { Target } from "./world.ts";

const programs = fileURLToPath(new URL("programs", import.meta.url));
const go = { GOFLAGS: "-mod=mod", GOBIN: join(cache, "bin") };
const [ogen, oapiCodegen, generator] = ["v1.24.0", "v2.8.2", "7.25.0"];
const jar = join(cache, `bin/openapi-generator-cli-${generator}.jar`);
const getJar = `mvn -q -B dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:${generator} -DoutputDirectory=${join(cache, "bin")}`;
const parts =
  "--global-property models,apis,supportingFiles,modelDocs=false,apiDocs=false,modelTests=false,apiTests=false";
const generateBy = `java -jar ${jar} generate -i openapi.json ${parts} -o api -g`;

interface Language {
  readonly name: string;
  /** Commands of the machine, each with the argument by which it shows that it is there. */
  readonly needs: readonly string[];
  /** Where the program stands among what is generated. */
  readonly program: readonly [from: string, to: string];
  readonly files?: Readonly<Record<string, string>>;
  /** What is brought once: a machine that cannot is one without the language. */
  readonly get: readonly string[];
  readonly generate: readonly string[];
  readonly build: readonly string[];
  readonly start: string;
}

const goModule = "module outside\n\ngo 1.24\n";

const languages: readonly Language[] = [
  {
    name: "Go, oapi-codegen",
    needs: ["go version"],
    program: ["oapi-codegen.go", "main.go"],
    files: { "go.mod": goModule },
    get: [`go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${oapiCodegen}`],
    generate: [`${go.GOBIN}/oapi-codegen -generate types,client -package api -o api/client.go openapi.json`],
    build: ["go get github.com/oapi-codegen/runtime@v1.9.0", "go mod tidy", "go build -o life ."],
    start: "./life",
  },
  {
    name: "Go, ogen",
    needs: ["go version"],
    program: ["ogen.go", "main.go"],
    files: {
      "go.mod": goModule,
      "ogen.yml": "generator: { features: { enable: [paths/client], disable_all: true } }\n",
    },
    get: [`go install github.com/ogen-go/ogen/cmd/ogen@${ogen}`],
    generate: [`${go.GOBIN}/ogen -config ogen.yml -target api -package api --clean openapi.json`],
    build: [`go get github.com/ogen-go/ogen@${ogen}`, "go mod tidy", "go build -o life ."],
    start: "./life",
  },
  {
    name: "Java, openapi-generator",
    needs: ["mvn -v", "javac -version"],
    program: ["Life.java", "api/src/main/java/Life.java"],
    get: [getJar],
    generate: [
      `${generateBy} java --library native --additional-properties=invokerPackage=belfry,apiPackage=belfry.api,modelPackage=belfry.model,openApiNullable=false`,
    ],
    build: ["mvn -q -B -f api/pom.xml dependency:copy-dependencies compile"],
    start: "java -cp api/target/classes:api/target/dependency/* Life",
  },
  {
    name: "Rust, openapi-generator",
    needs: ["cargo --version", "java -version", "mvn -v"],
    program: ["life.rs", "api/src/bin/life.rs"],
    get: [getJar],
    generate: [`${generateBy} rust --additional-properties=packageName=belfry_client,supportAsync=false`],
    build: ["cargo build --quiet --manifest-path api/Cargo.toml --target-dir target --no-default-features"],
    start: "target/debug/life",
  },
];

/** Runs commands one after another. @returns what the first that fails says, or null. */
async function failureOf(commands: readonly string[], cwd: string, env: object = {}): Promise<string | null> {
  for (const command of commands) {
    const [file = "", ...args] = command.split(" ");
    const { code, output } = await run(file, args, { cwd, env: { ...process.env, ...go, ...env } });
    if (code !== 0) return `${command.slice(0, 60)}: ${output.trim().slice(-500)}`;
  }
  return null;
}

async function findings(language: Language, target: Target): Promise<readonly string[]> {
  const folder = join(cache, language.name.replaceAll(/\W+/g, "-"));
  const program = readFileSync(join(programs, language.program[0]), "utf8");
  // Where it was served changes with each start, and the program has it from its environment.
  const wanted = hash("sha256", JSON.stringify([{ ...target.document, servers: [] }, language, program]));
  const kept = join(folder, "built");
  if (!existsSync(kept) || readFileSync(kept, "utf8") !== wanted) {
    rmSync(kept, { force: true });
    const failure = await buildFailure(language, folder, target.document);
    if (failure !== null) return [failure];
    writeFileSync(kept, wanted);
  }
  const failure = await failureOf([language.start], folder, { BELFRY_URL: target.url });
  return failure === null ? [] : [failure];
}

async function buildFailure(language: Language, folder: string, document: object): Promise<string | null> {
  const { program, files = {}, generate, build } = language;
  rmSync(join(folder, "api"), { recursive: true, force: true });
  mkdirSync(join(folder, "api"), { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
  const made = await failureOf(generate, folder);
  if (made !== null) return `it generates nothing: ${made}`;
  cpSync(join(programs, program[0]), join(folder, program[1]), { recursive: true });
  const built = await failureOf(build, folder);
  return built === null ? null : `it does not compile: ${built}`;
}

const goFaults: Check["faults"] = {
  "a member of two types": (target) => {
    const text = JSON.stringify(target.document).replace('"type":"boolean"', '"type":["boolean","string"]');
    return { target: { ...target, document: JSON.parse(text) as Target["document"] } };
  },
};
const otherFaults: Check["faults"] = {
  "schedules are never of another version": (target) =>
    faultyServer(target, { before: ({ method }) => (method === "PATCH" ? { status: 200, body: { id: "x" } } : null) }),
};

/** A client of each language, generated from the served document, compiled, and run through the life of a job, a run and a schedule. */
export const languageChecks: readonly Check[] = languages.map((language) => ({
  name: `client of ${language.name}`,
  missing: async () => {
    const missing = await failureOf([...language.needs, ...language.get], ".");
    return missing === null ? null : `it needs ${missing}`;
  },
  run: (target) => findings(language, target),
  faults: language.name.startsWith("Go") ? goFaults : otherFaults,
}));

/** `npm run synth`: templates of all deployed stages, without an account or a network; findings of the validator are errors. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { openProject } from "../src/stage/project.ts";
import type { Stage } from "../src/stage/stages.ts";
import { type ImageAssets, wrongPlatforms } from "./checks/images.ts";
import { reachOf } from "./checks/reach.ts";
import type { Template } from "./checks/template.ts";

/** Why a rule of cfn-lint is left out; all others hold, the experimental and the informational ones too. */
const unasked: Readonly<Record<string, string>> = {
  W3005: "dependencies that the CDK itself writes twice",
  I1022: "Fn::Join, which the CDK writes",
  W3691: "its list has minor versions of Postgres only; RDS takes a major one and chooses its default",
};

const root = fileURLToPath(new URL("../", import.meta.url));
const { stages } = await openProject(`${root}belfry.config.ts`);
const deployed: readonly Stage[] = Object.values(stages).filter((stage) => stage.deployed);
const startedMs = performance.now();
const { status, error } = spawnSync(process.execPath, [`${root}node_modules/aws-cdk/bin/cdk`, "synth", "--quiet"], {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
  // The CLI would ask the instance it runs on for credentials; and it starts the app with the first `node` it finds.
  env: {
    ...process.env,
    AWS_EC2_METADATA_DISABLED: "true",
    PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
  },
});
if (error !== undefined) throw error;
const isClean = status === 0 && lint() && oneArchitecture();
if (isClean) console.log(`${report()} in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
process.exitCode = isClean ? 0 : (status ?? 0) || 1;

/**
 * cfn-lint holds every resource against its type's schema in the CloudFormation registry, properties included; it is a Python
 * program and may not be there. @returns false on a finding.
 */
function lint(): boolean {
  const templates = deployed.map(({ name }) => `${root}cdk.out/belfry-${name}.template.json`);
  const ran = spawnSync(
    "cfn-lint",
    ["--include-checks", "I", "--include-experimental", "--ignore-checks", ...Object.keys(unasked), "--", ...templates],
    { encoding: "utf8" },
  );
  if (ran.error !== undefined) {
    console.log("cfn-lint is not on this machine: its checks were left out");
    return true;
  }
  if (ran.status === 0) console.log(`cfn-lint has nothing to say; left out: ${Object.keys(unasked).join(", ")}`);
  else console.error(ran.stdout, ran.stderr);
  return ran.status === 0;
}

function oneArchitecture(): boolean {
  const wrong = deployed.flatMap(({ name }) => {
    const assets = JSON.parse(readFileSync(`${root}cdk.out/belfry-${name}.assets.json`, "utf8")) as ImageAssets;
    return wrongPlatforms(assets).map((platform) => `belfry-${name}: ${platform}`);
  });
  if (wrong.length > 0)
    console.error(`images must be for linux/arm64, as functions and tasks are: ${wrong.join(", ")}`);
  return wrong.length === 0;
}

function report(): string {
  const counts = deployed.map(({ name }) => {
    const template = JSON.parse(readFileSync(`${root}cdk.out/belfry-${name}.template.json`, "utf8")) as Template;
    const { paths, undecided } = reachOf(template);
    const left = undecided.length === 0 ? "" : `, ${undecided.length} processes undecided`;
    return `belfry-${name} (${Object.keys(template.Resources).length} resources, ${paths} paths${left})`;
  });
  return `Synthesized and validated ${counts.join(", ")}`;
}

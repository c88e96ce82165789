/** `npm run synth`: templates of all deployed stages, without an account or a network; findings of the validator are errors. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { stages, type Stage } from "../src/stages.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
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
if (status === 0) console.log(`${report()} in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
process.exitCode = status ?? 1;

function report(): string {
  const deployed: readonly Stage[] = Object.values(stages).filter((stage) => stage.deployed);
  const counts = deployed.map(({ name }) => {
    const template = readFileSync(`${root}cdk.out/belfry-${name}.template.json`, "utf8");
    const { Resources } = JSON.parse(template) as { Resources: Record<string, unknown> };
    return `belfry-${name} (${Object.keys(Resources).length} resources)`;
  });
  return `Synthesized and validated ${counts.join(", ")}`;
}

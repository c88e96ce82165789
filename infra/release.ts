/** What `belfry bundle` makes of a stage: everything that a deployment takes from the project, in one folder. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadApps } from "../src/compose/apps.ts";
import { consoleFiles } from "../src/compose/console-files.ts";
import { checkApps } from "../src/define/check.ts";
import { checkOperators, checkScopes } from "../src/define/scope.ts";
import { DefinitionProblems } from "../src/define/problem.ts";
import { checkSettings } from "../src/stage/lane-settings.ts";
import { type Project, stageNames } from "../src/stage/project.ts";
import type { Stage } from "../src/stage/stages.ts";
import { checkTopology, topology, type Topology } from "../src/stage/topology.ts";
import { bundle } from "./bundle.ts";
import { imageSources } from "./image-sources.ts";
import { functionNames, releaseFiles } from "./release-files.ts";

/** Fills the folder: the topology, a folder for each function, the image of the scheduler task. @throws DefinitionProblems */
export async function makeRelease(project: Project, stage: Stage, out: string): Promise<void> {
  const all = await checkedTopology(project, stage);
  rmSync(out, { recursive: true, force: true });
  const image = join(out, releaseFiles.image);
  mkdirSync(image, { recursive: true });
  writeFileSync(join(out, releaseFiles.topology), `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(join(image, "Dockerfile"), dockerfile);
  await bundleFunctions(join(out, releaseFiles.functions), project, stage.apps);
  await bundle("scheduler-task/main", join(image, "main.mjs"), { project, apps: stage.apps });
}

/** What `check` refuses is not bundled either. What a lane is given is complete only in the CDK app: the construct looks. */
export async function checkedTopology(project: Project, stage: Stage): Promise<Topology> {
  const apps = await loadApps(project, stage);
  const all = topology(apps, stage);
  const problems = [
    ...checkApps(apps, stage.name, stageNames(project)),
    ...checkScopes(stage, apps),
    // What is bundled is deployed, whatever the stage says of itself.
    ...checkOperators({ ...stage, deployed: true }),
    ...checkTopology(all),
    ...checkSettings(stage, all.lanes),
  ];
  if (problems.length > 0) throw new DefinitionProblems(problems);
  return all;
}

/** Bundles each function into a folder of its own below `outdir`. */
export async function bundleFunctions(outdir: string, project: Project, apps: readonly string[]): Promise<void> {
  await writeConsole(join(outdir, "api", "functions", "console"));
  await Promise.all(
    functionNames.map(async (name) => {
      mkdirSync(join(outdir, name), { recursive: true });
      await bundle(`functions/${name}`, join(outdir, name, "index.mjs"), { project, apps });
    }),
  );
}

/** The page's files, where `functions/api.ts` looks for them. */
async function writeConsole(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, { bytes }] of await consoleFiles()) writeFileSync(join(folder, name), bytes);
}

const { node, rdsAuthorities, rdsAuthoritiesSha256 } = imageSources;
/** No package manager runs in it: the bundle is all there is. The authorities verify the database's certificate. */
const dockerfile = `FROM --platform=$BUILDPLATFORM ${node} AS authorities
WORKDIR /out
ADD --chmod=644 ${rdsAuthorities} rds-ca.pem
RUN test "$(node -p 'crypto.hash("sha256", fs.readFileSync("rds-ca.pem"))')" = "${rdsAuthoritiesSha256}"

FROM ${node}
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=authorities /out/ ./
COPY . ./
USER node
ENTRYPOINT ["node", "/app/main.mjs"]
CMD ["pass"]
`;

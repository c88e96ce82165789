#!/usr/bin/env node
// Writes the files of a new project. Works on any Node: no dependencies, nothing newer than 18.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const templates = "@@templates@@";
const given = process.argv.slice(2);
const isHere = given.includes("--here");
const [name] = given.filter((each) => !each.startsWith("--"));
const folder = isHere ? process.cwd() : resolve(name ?? "");
const id = basename(folder);

if (!isHere && name === undefined) fail("name a folder: npm create belfry my-jobs");
if (!/^[a-z][a-z\d-]{0,40}$/.test(id))
  fail(
    `the folder's name "${id}" must be lower-case letters, digits and dashes, beginning with a letter: it names the app too`,
  );
if (!isHere && existsSync(folder) && readdirSync(folder).length > 0)
  fail(`${folder} exists and is not empty: name another one`);

const hasCdk = isHere && existsSync("cdk.json");
const added = hasCdk ? /^(belfry\.config\.ts|jobs\/)/ : /^(belfry\.config\.ts|jobs\/|infra\/)/;
const hasNode = Number(process.versions.node.split(".")[0]) >= 24;
// 189 MB that only a machine with an older Node needs.
if (hasNode) {
  const { optionalDependencies: _node, ...manifest } = JSON.parse(templates["package.json"]);
  templates["package.json"] = `${JSON.stringify(manifest, null, 2)}\n`;
}
const files = Object.entries(templates).filter(([file]) => !isHere || added.test(file));
for (const [file] of files) if (existsSync(join(folder, file))) fail(`${join(folder, file)} exists already`);
for (const [file, text] of files) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text.replaceAll("@@name@@", id));
}
console.log(
  isHere ? here() : `made ${folder}\n\n  cd ${name} && npm install && npm start\n\nThen edit jobs/index.ts and save.`,
);

/** What is added to a project, and what it still needs. */
function here() {
  const node =
    !hasNode && process.platform === "linux"
      ? ` && npm install --save-optional node-${process.platform}-${process.arch}@24`
      : "";
  const stack = `\n\nIn a stack of yours:\n\n  import { Belfry } from "belfry/cdk";\n  new Belfry(this, "Belfry", { stage: "prod" });`;
  return `added belfry.config.ts${hasCdk ? " and jobs/" : ", jobs/ and infra/"}

  npm install belfry zod && npm install -D belfry-local esbuild${hasCdk ? "" : " aws-cdk aws-cdk-lib constructs"}${node}
  npx belfry dev${hasCdk ? stack : ""}`;
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(2);
}

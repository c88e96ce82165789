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

const added = /^(belfry\.config\.ts|jobs\/|infra\/|test\/)/;
const files = Object.entries(templates).filter(([file]) => !isHere || added.test(file));
for (const [file] of files) if (existsSync(join(folder, file))) fail(`${join(folder, file)} exists already`);
for (const [file, text] of files) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text.replaceAll("@@name@@", id));
}
console.log(
  isHere
    ? "added belfry.config.ts, jobs/, infra/ and test/\n\n  npm install belfry && npm install -D belfry-local && npx belfry dev"
    : `made ${folder}\n\n  cd ${name} && npm install && npm start\n\nThen edit jobs/index.ts and save.`,
);

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(2);
}

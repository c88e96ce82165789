import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Stack } from "aws-cdk-lib";
import { CfnInclude } from "aws-cdk-lib/cloudformation-include";
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, describe, expect, test } from "vitest";
import { checks } from "../../infra/checks/index.ts";
import type { Template } from "../../infra/checks/template.ts";
import { loadApps, stages } from "../support/own-project.ts";
import { topology } from "../../src/topology.ts";
import type { EditableTemplate, Fault } from "./faults/fault.ts";
import { newApp, templateOf } from "./synthesize.ts";

const folder = mkdtempSync(join(tmpdir(), "belfry-faults-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const faultFiles = readdirSync(new URL("faults/", import.meta.url)).filter((file) => /^\d\d-/.test(file));
const faults = await Promise.all(
  faultFiles.map(async (file) => ({
    file,
    ...((await import(`./faults/${file}`)) as { default: Fault }).default,
  })),
);
const template = templateOf(topology(await loadApps(stages.dev), stages.dev)).toJSON() as EditableTemplate;

/** Ids of our own rules that find something, with where. */
const ours = (subject: Template): readonly string[] =>
  checks.flatMap(({ id, find }) => find(subject).map(({ resource }) => `${id} ${resource}`));

/** Findings of cdk-nag, which reads constructs: the template becomes some again, without its acknowledgements. */
function nags(subject: Template, name: string): readonly string[] {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(subject));
  const stack = new Stack(newApp(), "fault");
  const included = new CfnInclude(stack, "Template", { templateFile: file, allowCyclicalReferences: true });
  return new AwsSolutionsChecks(included)
    .validateScope(stack)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ resourceLogicalId }) => `${ruleName} ${resourceLogicalId}`),
    );
}

test("there are at least 20 faults, and every rule of ours is needed by one", () => {
  expect(faults.length).toBeGreaterThanOrEqual(20);
  const needed = new Set(faults.map(({ refusedBy }) => refusedBy));
  expect(checks.map(({ id }) => id).filter((id) => !needed.has(id))).toEqual([]);
});

test("a stage as it is breaks none of our rules", () => {
  expect(ours(template)).toEqual([]);
});

describe.each(faults)("$file: $name", ({ file, refusedBy, plant }) => {
  test(`is refused by ${refusedBy}`, () => {
    const faulty = structuredClone(template);
    plant(faulty);
    expect(faulty).not.toEqual(template);
    const isNag = refusedBy.startsWith("AwsSolutions-");
    const find = (subject: Template, name: string) => (isNag ? nags(subject, name) : ours(subject));
    const before = new Set(find(template, "before"));
    const added = find(faulty, file.replaceAll(/\W/g, "-")).filter((finding) => !before.has(finding));
    expect(added.filter((finding) => finding.startsWith(refusedBy))).not.toEqual([]);
  });
});

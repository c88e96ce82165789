import { loadApps, stages } from "../support/own-project.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Stack } from "aws-cdk-lib";
import { CfnInclude } from "aws-cdk-lib/cloudformation-include";
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, describe, expect, test } from "vitest";
import { checks, findings } from "../../infra/checks/index.ts";
import { reachOf } from "../../infra/checks/reach.ts";
import { pathOf, type Template } from "../../infra/checks/template.ts";
import type { NetworkProps } from "../../infra/constructs/network.ts";
import { topology } from "../../src/stage/topology.ts";
import type { EditableTemplate } from "./faults/fault.ts";
import { network } from "./faults/network.ts";
import { parts } from "./faults/parts.ts";
import { rights, stageKey } from "./faults/rights.ts";
import { stage } from "./faults/stage.ts";
import { newApp, templateOf, unasked } from "./synthesize.ts";

const folder = mkdtempSync(join(tmpdir(), "belfry-faults-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const faults = [...parts, ...rights, ...network, ...stage];
const all = unasked(topology(await loadApps(stages.smoke), stages.smoke));
const networks = {
  none: { kind: "small", ipv4: "none" },
  instance: { kind: "small", ipv4: "instance", imageId: "ami-0123456789abcdef0" },
  gateway: { kind: "default", ipv4: "gateway", gateways: 2 },
} as const satisfies Record<string, NetworkProps>;
const templates = Object.fromEntries(
  Object.entries(networks).map(([ipv4, network]) => {
    const scheduler = ipv4 === "gateway" ? "service" : "each-minute";
    const key = ipv4 === "instance" ? { encryptionKeyArn: stageKey } : {};
    return [ipv4, templateOf(all, { network, scheduler, ...key }).toJSON()];
  }),
) as Record<keyof typeof networks, EditableTemplate>;

/** Ids of our own rules that find something, with where and what. */
const ours = (subject: Template): readonly string[] =>
  findings(subject).flatMap(({ check, found }) =>
    found.map(({ resource, detail }) => `${check.id} ${pathOf(subject, resource)}: ${detail}`),
  );

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

const nagsBefore: Partial<Record<keyof typeof networks, readonly string[]>> = {};

test("there are at least 40 faults, and every own rule is needed by one", () => {
  expect(faults.length).toBeGreaterThanOrEqual(40);
  const needed = new Set(faults.map(({ refusedBy }) => refusedBy));
  expect(checks.map(({ id }) => id).filter((id) => !needed.has(id))).toEqual([]);
});

test.each(Object.entries(templates))("a stage whose way out is %s breaks none of our rules", (_, template) => {
  expect(ours(template)).toEqual([]);
});

test("every function and task is decided in a network that the stage makes, and none in a network by parameters", () => {
  expect(reachOf(templates.none)).toMatchObject({ undecided: [], findings: [] });
  expect(reachOf(templates.none).paths).toBeGreaterThan(80);
  const theirs = { network: { kind: "by-parameters" }, database: { kind: "existing" } } as const;
  const template = templateOf(all, theirs).toJSON() as EditableTemplate;
  expect(reachOf(template)).toMatchObject({ paths: 0, findings: [] });
  expect(reachOf(template).undecided.length).toBeGreaterThan(5);
});

describe.each(faults)("$name", ({ name, refusedBy, plant, ipv4 = "none", at = "", saying = /^/ }) => {
  test(`is refused by ${refusedBy}`, () => {
    const template = templates[ipv4];
    const faulty = structuredClone(template);
    plant(faulty);
    expect(faulty).not.toEqual(template);
    const isNag = refusedBy.startsWith("AwsSolutions-");
    const label = name.replaceAll(/\W/g, "-");
    // The template itself breaks no rule of Belfry, as a test above says.
    const before = isNag ? (nagsBefore[ipv4] ??= nags(template, "before")) : [];
    const added = (isNag ? nags(faulty, label) : ours(faulty)).filter((finding) => !before.includes(finding));
    const refusals = added.filter((finding) => finding.startsWith(refusedBy));
    expect(refusals.filter((finding) => finding.includes(at) && saying.test(finding))).not.toEqual([]);
    // With the construct's path, or the whole template where no single construct is to blame.
    const nameless = refusals.filter((finding) => !/ (test|belfry-smoke)\/|\(template\)/.test(finding));
    expect(isNag ? [] : nameless).toEqual([]);
  });
});

import { fileURLToPath } from "node:url";
import { readFileSync, rmSync } from "node:fs";
import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { Code } from "aws-cdk-lib/aws-lambda";
import { vi } from "vitest";
import type { ReleaseCode } from "../../infra/code.ts";
import { Fakes, type FakesProps } from "../../infra/constructs/fakes.ts";
import { addStage } from "../../infra/stack.ts";
import { type Deployment, deploymentOf } from "../../infra/stages.ts";
import type { Topology } from "../../src/stage/topology.ts";

const cdkJson = fileURLToPath(new URL("../../cdk.json", import.meta.url));
const { context } = JSON.parse(readFileSync(cdkJson, "utf8")) as { context: Record<string, unknown> };

// A synthesis takes seconds where nothing else runs, and much longer beside other suites.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Stands in for the bundles, which only `npm run synth` makes. */
export const code: ReleaseCode = {
  functions: {
    worker: Code.fromInline("exports.handler = 1"),
    "dead-letter": Code.fromInline("exports.handler = 2"),
    "ecs-events": Code.fromInline("exports.handler = 5"),
    migrate: Code.fromInline("exports.handler = 3"),
    api: Code.fromInline("exports.handler = 4"),
  },
  release: "1",
};
export const image = ContainerImage.fromRegistry("belfry");

/** An app with the flags of cdk.json, which the CLI would pass; without what no template has, a third of the CPU. */
export const newApp = (): App =>
  new App({
    context: {
      ...context,
      "aws:cdk:enable-path-metadata": true,
      "aws:cdk:disable-creation-stack-traces": true,
    },
    analyticsReporting: false,
    stackTraces: false,
    treeMetadata: false,
  });

/** Of a stage whose fakes stay away: they give what handlers ask for, and would be a service beside those that are looked at. */
export const unasked = (topology: Topology): Topology => ({
  ...topology,
  lanes: topology.lanes.map((lane) => ({ ...lane, needs: { environment: [], secrets: [] } })),
});

type FakesOptions = Omit<FakesProps, "stage">;

/** Of the stage's own network and database, or of the given ones. */
export function templateOf(topology: Topology, over: Partial<Deployment> = {}, fakes?: FakesOptions): Template {
  return readOnce(stackOf(newApp(), topology, over, fakes));
}

export function stackOf(app: App, topology: Topology, over: Partial<Deployment> = {}, fakes?: FakesOptions): Stack {
  const deployment = { ...deploymentOf(topology.stage), ...over };
  return addStage(app, topology.stage, deployment, {
    release: { topology, code, image },
    ...(fakes && { fakes: (scope) => new Fakes(scope, "Fakes", { stage: topology.stage, ...fakes }) }),
  });
}

/** The template of a stack that holds only what `build` adds. */
export function templateWith(build: (stack: Stack) => void): Template {
  const stack = new Stack(newApp(), "test");
  build(stack);
  return readOnce(stack);
}

/** What an app writes is megabytes below the folder for temporary files, and stays there. */
function readOnce(stack: Stack): Template {
  const template = Template.fromStack(stack);
  const app = App.of(stack);
  if (app instanceof App) rmSync(app.outdir, { recursive: true });
  return template;
}

export interface Resource {
  readonly id: string;
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  readonly DeletionPolicy?: string;
}

export const resources = (template: Template, type: string): readonly Resource[] =>
  Object.entries(template.findResources(type)).map(([id, resource]) => ({ id, ...(resource as Omit<Resource, "id">) }));

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Template } from "../../infra/checks/template.ts";
import type { Aws } from "../../src/aws/aws-call.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Cdk {
  bootstrap(): Promise<void>;
  /** @param context for the app, like `image`. @returns the outputs of the stack by name. */
  deploy(context?: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>>;
  /** The same stack by another app, a TypeScript file of this project. */
  deployBy(app: string, context?: Readonly<Record<string, string>>): Promise<void>;
  destroy(): Promise<void>;
  /** What the last deploy said, for example whether there was a change. */
  readonly said: () => string;
  readonly template: () => Template;
}

export const stackOf = (stage: string): string => `belfry-${stage}`;

export interface CdkOptions {
  /** Keeps its output. */
  readonly folder: string;
  readonly stage: string;
  /** Default: that of the stage in this repository. */
  readonly stackName?: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Gets what the CLI prints, as it comes. */
  readonly onOutput?: (text: string) => void;
}

/** The real CDK CLI, with AWS's address. */
export function cdkAt(aws: Aws, options: CdkOptions): Cdk {
  const { folder, stage, stackName = stackOf(stage), environment, onOutput = () => {} } = options;
  const assembly = join(folder, "cdk.out");
  const outputs = join(folder, "outputs.json");
  let last = "";
  const run = async (...args: readonly string[]): Promise<void> => {
    const given = [...args, "--output", assembly, "-c", `stage=${stage}`];
    last = await cli(given, aws, { cwd: root, environment, onOutput });
  };
  const deploy = async (context: Readonly<Record<string, string>>, ...options: readonly string[]): Promise<void> => {
    const given = Object.entries(context).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    await run("deploy", stackName, "--require-approval", "never", "--outputs-file", outputs, ...given, ...options);
  };
  return {
    // Beside no app, so that none is synthesized for it.
    async bootstrap() {
      last = await cli(["bootstrap", `aws://${aws.account}/${aws.region}`], aws, {
        cwd: tmpdir(),
        environment,
        onOutput,
      });
    },
    async deploy(context = {}) {
      await deploy(context);
      const read = JSON.parse(readFileSync(outputs, "utf8")) as Record<string, Record<string, string>>;
      return read[stackName] ?? {};
    },
    deployBy: (app, context = {}) => deploy(context, "--app", `${process.execPath} ${app}`),
    destroy: () => run("destroy", stackName, "--force"),
    said: () => last,
    template: () => JSON.parse(readFileSync(join(assembly, `${stackName}.template.json`), "utf8")) as Template,
  };
}

/** @throws Error with what the CLI printed. */
async function cli(
  args: readonly string[],
  aws: Aws,
  { cwd, environment, onOutput }: Required<Pick<CdkOptions, "environment" | "onOutput">> & { readonly cwd: string },
): Promise<string> {
  const child = spawn(process.execPath, [join(root, "node_modules/aws-cdk/bin/cdk"), ...args, "--progress", "events"], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      ...environment,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
      ...(aws.endpoint === null ? {} : { AWS_ENDPOINT_URL: aws.endpoint, AWS_EC2_METADATA_DISABLED: "true" }),
      AWS_REGION: aws.region,
      AWS_DEFAULT_REGION: aws.region,
    },
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data: Buffer) => {
      lines.push(data.toString());
      onOutput(data.toString());
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  const said = lines.join("");
  if (code !== 0) throw new Error(`cdk ${args.join(" ")} ended with code ${code}:\n${said.slice(-6_000)}`);
  return said;
}

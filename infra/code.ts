import { join } from "node:path";
import { FileSystem } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { type FunctionName, functionNames } from "./release-files.ts";

export interface ReleaseCode {
  readonly functions: Readonly<Record<FunctionName, Code>>;
  /** Differs whenever migrations or definitions do. */
  readonly release: string;
}

/** One per stack: an asset belongs to the stack that first uses it. `folder` is what `bundleFunctions` filled. */
export function releaseCode(folder: string): ReleaseCode {
  const functions = Object.fromEntries(
    functionNames.map((name): [string, Code] => [name, Code.fromAsset(join(folder, name))]),
  );
  return {
    functions: functions as Record<FunctionName, Code>,
    release: FileSystem.fingerprint(join(folder, "migrate")),
  };
}

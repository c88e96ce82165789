import { Stack } from "aws-cdk-lib";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import type { Lane } from "./lane.ts";

export type SealKeys = Readonly<Record<string, IKey>>;

/** Every process knows the keys' names: a handler of any lane may enqueue. What it may do with them is in its role. */
export function sealsEnvironment(scope: Construct, keys: SealKeys = {}): Readonly<Record<string, string>> {
  const arns = Object.entries(keys).map(([name, { keyArn }]) => [name, keyArn] as const);
  return arns.length === 0 ? {} : { BELFRY_SEALS: Stack.of(scope).toJsonString(Object.fromEntries(arns)) };
}

/** Who runs the jobs that a key seals may open them; `writers` may only seal. @throws Error naming a key that the stage lacks. */
export function grantSeals(lanes: readonly Lane[], writers: readonly IGrantable[], keys: SealKeys = {}): void {
  for (const { name: lane, seals } of lanes) {
    const missing = seals.find((name) => !Object.hasOwn(keys, name));
    if (missing === undefined) continue;
    throw new Error(`jobs of lane "${lane}" are sealed by "${missing}": give the key, seals: { "${missing}": key }`);
  }
  for (const writer of writers) grantSealing(writer, keys);
  for (const [name, key] of Object.entries(keys)) {
    for (const lane of lanes.filter(({ seals }) => seals.includes(name)))
      grant(name, key, lane, "kms:GenerateDataKey", "kms:Decrypt");
  }
}

/** Who only enqueues. */
export function grantSealing(writer: IGrantable, keys: SealKeys = {}): void {
  for (const [name, key] of Object.entries(keys)) grant(name, key, writer, "kms:GenerateDataKey");
}

/** The context keeps two names of one key apart; what a text is sealed for is authenticated with the text itself. */
function grant(name: string, { keyArn }: IKey, grantee: IGrantable, ...actions: string[]): void {
  const conditions = { StringEquals: { "kms:EncryptionContext:belfry:seal": name } };
  Grant.addToPrincipal({ grantee, actions, resourceArns: [keyArn], conditions });
}

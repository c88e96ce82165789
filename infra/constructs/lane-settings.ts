import { ArnFormat, Lazy, Stack } from "aws-cdk-lib";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";

/** Reading the one secret or parameter that a reference names. Its key, if a team's own, is theirs to grant. */
export function grantRead(scope: Construct, reference: string, grantee: IGrantable): void {
  if (/^arn:[\w-]+:secretsmanager:/.test(reference)) {
    grantSecret(reference, grantee);
    return;
  }
  const named = { service: "ssm", resource: "parameter", arnFormat: ArnFormat.SLASH_RESOURCE_NAME };
  const arn = reference.startsWith("/")
    ? Stack.of(scope).formatArn({ ...named, resourceName: reference.slice(1) })
    : reference;
  Grant.addToPrincipal({ grantee, actions: ["ssm:GetParameter"], resourceArns: [arn] });
}

/** Also of an ARN that is known only when it is deployed. */
export function grantSecret(arn: string, grantee: IGrantable): void {
  // IAM asks for the whole ARN, also of a secret that is named without the six characters that AWS put behind it.
  const resourceArns = /-\w{6}$/.test(arn) ? [arn] : [arn, `${arn}-??????`];
  Grant.addToPrincipal({ grantee, actions: ["secretsmanager:GetSecretValue"], resourceArns });
}

/** What a process reads as `BELFRY_SECRETS`; the record may still grow. */
export const secretsVariable = (scope: Construct, references: Readonly<Record<string, string>>): string =>
  Lazy.string({ produce: () => Stack.of(scope).toJsonString(references) });

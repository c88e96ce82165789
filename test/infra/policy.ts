/** Decides as IAM does, as far as the policies of our templates go: what it does not know, it refuses to judge. */
import type { Template } from "aws-cdk-lib/assertions";
import { resources } from "./synthesize.ts";

/** One right that a call asks for. */
export interface Right {
  readonly action: string;
  /** An ARN, or `*` for a call that names no resource. */
  readonly resource: string;
  readonly context?: Readonly<Record<string, string>>;
}

interface Statement {
  readonly Effect: "Allow" | "Deny";
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

const pseudo: Readonly<Record<string, string>> = {
  "AWS::Partition": "aws",
  "AWS::AccountId": "123456789012",
  "AWS::Region": "eu-west-1",
};

/** @param role the beginning of its logical id. */
export function isAllowed(template: Template, role: string, right: Right): boolean {
  const statements = resources(template, "AWS::IAM::Policy")
    .filter(({ Properties }) => (Properties["Roles"] as { Ref: string }[]).some(({ Ref }) => Ref.startsWith(role)))
    .flatMap(({ Properties }) => (Properties["PolicyDocument"] as { Statement: readonly Statement[] }).Statement)
    .filter((statement) => isAbout(statement, right));
  return statements.length > 0 && statements.every(({ Effect }) => Effect === "Allow");
}

function isAbout({ Action, Resource, Condition = {} }: Statement, { action, resource, context = {} }: Right): boolean {
  const isNamed = (patterns: readonly string[], name: string): boolean => patterns.some((each) => like(each, name));
  if (!isNamed([Action].flat(), action) || !isNamed([Resource].flat().map(textOf), resource)) return false;
  return Object.entries(Condition).every(([operator, wanted]) => {
    if (operator !== "Bool" && operator !== "StringEquals") throw new Error(`no condition "${operator}" here: add it`);
    return Object.entries(wanted).every(([key, values]) =>
      [values]
        .flat()
        .map(textOf)
        .includes(context[key] ?? ""),
    );
  });
}

function like(pattern: string, text: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`).test(text);
}

interface Named {
  readonly Ref?: string;
  readonly "Fn::Join"?: readonly [string, readonly unknown[]];
  readonly "Fn::GetAtt"?: readonly string[];
}

/** With CloudFormation's own names put in. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const { Ref, "Fn::Join": join, "Fn::GetAtt": attribute } = value as Named;
  if (join !== undefined) return join[1].map(textOf).join(join[0]);
  // By its logical id, without the hash behind it.
  if (attribute !== undefined) return attribute.join(".").replace(/[0-9A-F]{8}(?=\.)/, "");
  const known = pseudo[Ref ?? ""];
  if (known === undefined) throw new Error(`${JSON.stringify(value)} is not known here: add it`);
  return known;
}

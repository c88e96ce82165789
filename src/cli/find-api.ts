/** The address of a stage's API, whatever its stack is called: the description of a stack's output names the stage. */
import { isApiOf } from "../stage/deployed-api.ts";
import { wrongUsage } from "./exit.ts";

export interface FoundApi {
  readonly stack: string;
  readonly url: string;
}

/** Pages of a hundred stacks: more than an account may have. */
const pagesMax = 40;

/** Calls DescribeStacks with these parameters. Null: it says that there is no stack of that name. */
export type DescribeStacks = (parameters: Readonly<Record<string, string>>) => Promise<string | null>;

/**
 * The named stack's where it has one: a caller then needs rights on that stack only, and takes no other system's stage of this
 * name. Else that of any stack. @throws CliError when two stacks have this stage.
 */
export async function findApi(
  stage: string,
  { named, describe }: { readonly named: string | null; readonly describe: DescribeStacks },
): Promise<FoundApi | null> {
  const own = named === null ? null : await describe({ StackName: named });
  return apisIn(own ?? "", stage)[0] ?? (await searched(stage, describe));
}

async function searched(stage: string, describe: DescribeStacks): Promise<FoundApi | null> {
  const found: FoundApi[] = [];
  let next: string | undefined = "";
  for (let page = 0; next !== undefined && page < pagesMax; page += 1) {
    const text: string | null = await describe(next === "" ? {} : { NextToken: next });
    found.push(...apisIn(text ?? "", stage));
    next = /<NextToken>([^<]+)<\/NextToken>/.exec(text ?? "")?.[1];
  }
  const [first, second] = found;
  if (first !== undefined && second !== undefined) {
    throw wrongUsage("stage-of-two", `stacks ${first.stack} and ${second.stack} both have a stage "${stage}"`, [
      "name its address with --url, or go to a folder whose cdk.out has one of them",
    ]);
  }
  return first ?? null;
}

function apisIn(text: string, stage: string): readonly FoundApi[] {
  let stack = "";
  const found: FoundApi[] = [];
  for (const [, name, output = ""] of text.matchAll(
    /<StackName>([^<]+)<\/StackName>|<member>(\s*<OutputKey>.*?)<\/member>/gs,
  )) {
    stack = name ?? stack;
    const url = /<OutputValue>\s*(https?:\/\/[^<\s]+)/.exec(output)?.[1];
    const description = /<Description>([^<]*)</.exec(output)?.[1] ?? "";
    if (url !== undefined && isApiOf(stage, description)) found.push({ stack, url });
  }
  return found;
}

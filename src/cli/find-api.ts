/** The address of a stage's API, whatever its stack is called: the description of a stack's output names the stage. */
import { apiDescription } from "../deployed-api.ts";

export interface FoundApi {
  readonly stack: string;
  readonly url: string;
}

/** Pages of a hundred stacks: more than an account may have. */
const pagesMax = 40;

/** @param describe calls DescribeStacks with these parameters. @throws Error when two stacks have this stage. */
export async function findApi(
  stage: string,
  describe: (parameters: Readonly<Record<string, string>>) => Promise<string>,
): Promise<FoundApi | null> {
  const found: FoundApi[] = [];
  let next: string | undefined = "";
  for (let page = 0; next !== undefined && page < pagesMax; page += 1) {
    const text: string = await describe(next === "" ? {} : { NextToken: next });
    found.push(...apisIn(text, stage));
    next = /<NextToken>([^<]+)<\/NextToken>/.exec(text)?.[1];
  }
  const [first, second] = found;
  if (first !== undefined && second !== undefined) {
    throw new Error(
      `stacks ${first.stack} and ${second.stack} both have a stage "${stage}": name its address with --url`,
    );
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
    if (url !== undefined && output.includes(`<Description>${apiDescription(stage)}</Description>`))
      found.push({ stack, url });
  }
  return found;
}

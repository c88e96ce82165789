import type { Aws } from "../../src/aws/aws-call.ts";
import type { ExampleReport, Report } from "../demo/report.ts";
import { until } from "../proof/until.ts";
import type { JudgeLine } from "./fakes/judge-line.ts";

/** Longer than the task's own time: it then says what is missing. */
const judgedMsMax = 90 * 60_000;

interface Page {
  readonly events?: readonly { readonly eventId: string; readonly message: string }[];
  readonly nextToken?: string;
}

/**
 * Follows the log of the task of the fakes until its judges have spoken. @param say gets its progress.
 * @throws Error when the judges could not judge, or in time.
 */
export async function judgement(aws: Aws, logGroupName: string, say: (text: string) => void): Promise<Report> {
  const seen = new Set<string>();
  const examples: ExampleReport[] = [];
  const look = async (): Promise<Report | null> => {
    // An hour has room for an answer that is lost.
    const lines = await newLines(aws, logGroupName, seen).catch((error: unknown) => {
      say(`the log was not read: ${String(error)}`);
      return [];
    });
    for (const line of lines) {
      if ("progress" in line) say(line.progress);
      else if ("example" in line) examples.push(line.example);
      else if ("failure" in line) throw new Error(`the examples could not be judged: ${line.failure}`);
      else return { ...line.judged, examples };
    }
    return null;
  };
  return until("the judges of the examples", judgedMsMax, look);
}

/** Those of the judge that came since the last look, oldest first; what else the task writes is left out. */
async function newLines(aws: Aws, logGroupName: string, seen: Set<string>): Promise<readonly JudgeLine[]> {
  const lines: JudgeLine[] = [];
  let nextToken: string | undefined;
  do {
    const input = { logGroupName, ...(nextToken === undefined ? {} : { nextToken }) };
    const page = await aws.json<Page>("logs", "Logs_20140328.FilterLogEvents", input);
    for (const { eventId, message } of page.events ?? []) {
      if (!seen.has(eventId) && /^\{"(progress|example|judged|failure)":/.test(message))
        lines.push(JSON.parse(message) as JudgeLine);
      seen.add(eventId);
    }
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return lines;
}

import type { AttemptDetailReply } from "../../api/shape/job.ts";

/** Before and after an attempt: clocks differ, and what its sandbox wrote around it helps. */
const aroundMs = 60_000;

interface Asked {
  readonly logGroup: NonNullable<AttemptDetailReply["logGroup"]>;
  readonly job: string;
  readonly trace: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** The address of CloudWatch Logs Insights with the lines of one attempt: its group, its trace and its time. */
export function logsInsightsUrl({ logGroup: { region, name }, job, trace, from, to }: Asked): string {
  const query = `fields @timestamp, @message\n| filter trace = "${trace}" and job = "${job}"\n| sort @timestamp asc`;
  const at = (ms: number): string => starred(new Date(ms).toISOString());
  const detail = `~(end~'${at(to + aroundMs)}~start~'${at(from - aroundMs)}~timeType~'ABSOLUTE~tz~'UTC~editorString~'${starred(query)}~source~(~'${starred(name)}))`;
  return `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#logsV2:logs-insights$3FqueryDetail$3D${detail}`;
}

/** CloudWatch's own form of an encoded text: `*` where others write `%`. */
const starred = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
    .replace(/%/g, "*");

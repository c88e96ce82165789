import { expect, test } from "vitest";
import { logsInsightsUrl } from "../../src/console/job/logs-insights.ts";

test("the link to CloudWatch names the group, the trace and the time of an attempt, in CloudWatch's own encoding", () => {
  const from = Date.parse("2026-11-21T03:00:00Z");
  const logGroup = { region: "eu-west-1", name: "/aws/lambda/mail" };
  const url = logsInsightsUrl({ logGroup, job: "42", trace: "a'b~c*", from, to: from + 1_000 });
  expect(url).toMatch(
    /^https:\/\/eu-west-1\.console\.aws\.amazon\.com\/cloudwatch\/home\?region=eu-west-1#logsV2:logs-insights\$3F/,
  );
  expect(url).toContain("~(end~'2026-11-21T03*3A01*3A01.000Z~start~'2026-11-21T02*3A59*3A00.000Z~timeType~'ABSOLUTE");
  expect(url).toContain("~source~(~'*2Faws*2Flambda*2Fmail))");
  const query = /editorString~'([^~']*)~/.exec(url)?.[1] ?? "";
  expect(decodeURIComponent(query.replaceAll("*", "%"))).toBe(
    'fields @timestamp, @message\n| filter trace = "a\'b~c*" and job = "42"\n| sort @timestamp asc',
  );
});

import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import { listenOnLoopback } from "../../src/local/services/server.ts";

/** What AWS answers, by the action that a call names. A test changes what it is about. */
export const ready = {
  GetCallerIdentity: "<Account>123456789012</Account>",
  "AmazonSSM.GetParameter": JSON.stringify({ Parameter: { Value: "30" } }),
  DescribeStacks: null as string | null,
  GetRole: "<Role/>",
  "account-settings": settings(1_000, 900),
  DescribeVpcs: "<vpcId>vpc-1a</vpcId>",
  DescribeAddresses: "",
  GetServiceQuota: null as string | null,
  DescribeSecret: null as string | null,
  DescribeDBEngineVersions: "<EngineVersion>17.10</EngineVersion>",
  DescribeOrderableDBInstanceOptions: zonesOffering("eu-west-1a", "eu-west-1b"),
  DescribeAvailabilityZones:
    "<zoneName>eu-west-1b</zoneName><zoneName>eu-west-1a</zoneName><zoneName>eu-west-1c</zoneName>",
  DescribeVpcBlockPublicAccessOptions: "<internetGatewayBlockMode>off</internetGatewayBlockMode>",
  DescribeConfigurationRecorders: recorders({ recordingGroup: { allSupported: false, resourceTypes: [] } }),
  DescribeConfigurationRecorderStatus: JSON.stringify({ ConfigurationRecordersStatus: [{ recording: true }] }),
};
export type Answers = typeof ready;

export function zonesOffering(...zones: readonly string[]): string {
  return zones.map((zone) => `<AvailabilityZone><Name>${zone}</Name></AvailabilityZone>`).join("");
}

export function recorders(...ConfigurationRecorders: readonly object[]): string {
  return JSON.stringify({ ConfigurationRecorders });
}

export function settings(ConcurrentExecutions: number, UnreservedConcurrentExecutions: number): string {
  return JSON.stringify({ AccountLimit: { ConcurrentExecutions, UnreservedConcurrentExecutions } });
}

/** An account at one address. */
export async function account(over: Partial<Answers> = {}): Promise<string> {
  const answers: Readonly<Record<string, string | null>> = { ...ready, ...over };
  const server = createServer((request, response) => {
    void request.toArray().then((parts) => {
      const asked = `${request.url} ${String(request.headers["x-amz-target"])} ${Buffer.concat(parts).toString()}`;
      const action = Object.keys(answers).find((name) => new RegExp(`\\b${name}\\b`).test(asked)) ?? "";
      const text = answers[action] ?? "<Message>Stack does not exist</Message>";
      response.writeHead(answers[action] === null || action === "" ? 400 : 200).end(text);
    });
  });
  const port = await listenOnLoopback(server, 0, "an account");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${port}`;
}

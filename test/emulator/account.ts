import type { Aws } from "../../src/aws/aws-call.ts";

interface Described {
  readonly subnets: readonly string[];
  readonly group: string;
}

export const secretOf = (path: string): string => `${path}/database`;

/**
 * What a team's account has before Belfry comes: a network, a database with its secret, and the parameters that name them.
 * @param path their system and stage.
 */
export async function prepareAccount(aws: Aws, databaseUrl: string, path = "belfry-emulator/emulator"): Promise<void> {
  const { subnets, group } = await network(aws);
  const url = new URL(databaseUrl);
  const { ARN } = await aws.json<{ ARN: string }>("secretsmanager", "secretsmanager.CreateSecret", {
    Name: secretOf(path),
    SecretString: JSON.stringify({ username: url.username, password: decodeURIComponent(url.password) }),
  });
  url.password = "";
  const parameters = {
    "subnet-a": subnets[0],
    "subnet-b": subnets[1],
    "client-security-group": group,
    "database-url": url.href,
    "database-secret-arn": ARN,
  };
  for (const [name, Value] of Object.entries(parameters)) {
    await aws.json("ssm", "AmazonSSM.PutParameter", {
      Name: `/belfry/${path}/${name}`,
      Type: "String",
      Value,
    });
  }
}

/** The network that every account has from its first day. */
async function network(aws: Aws): Promise<Described> {
  const find = async (action: string, pattern: RegExp): Promise<readonly string[]> => {
    const xml = await aws.form("ec2", action, { Version: "2016-11-15" });
    const found = [...new Set([...xml.matchAll(pattern)].map(([id]) => id))];
    if (found.length === 0) throw new Error(`${action} found nothing in the emulator's account`);
    return found;
  };
  const [group = ""] = await find("DescribeSecurityGroups", /\bsg-[0-9a-f]+\b/g);
  return { group, subnets: await find("DescribeSubnets", /\bsubnet-[0-9a-f]+\b/g) };
}

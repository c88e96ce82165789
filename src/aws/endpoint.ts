import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ECSClient } from "@aws-sdk/client-ecs";
import { isLoopback } from "../outside/outside-address.ts";
import { type AwsSettings, localCredentials } from "./address.ts";

const connectMsMax = 2_000;
const lockMsMax = 2_000;
const launchMsMax = 10_000;
/** A launch that ECS throttles is repeated after the job's own wait. */
const launchAttemptsMax = 3;
/** The lock repeats calls itself within its outage bound, and reads back first. */
const lockAttemptsMax = 3;

export function dynamodbClient(settings: AwsSettings): DynamoDBClient {
  return new DynamoDBClient({
    region: settings.region,
    maxAttempts: lockAttemptsMax,
    requestHandler: timeouts(lockMsMax),
    ...at(settings.dynamodbEndpoint),
  });
}

/** A repeated RunTask starts no second task: it carries a client token. */
export function ecsClient(settings: AwsSettings): ECSClient {
  return new ECSClient({
    region: settings.region,
    maxAttempts: launchAttemptsMax,
    requestHandler: timeouts(launchMsMax),
    ...at(settings.ecsEndpoint ?? null, settings.isDualStack),
  });
}

/** Without `throwOnRequestTimeout` the SDK only warns when an answer is late. */
export const timeouts = (requestTimeout: number) => ({
  connectionTimeout: connectMsMax,
  requestTimeout,
  throwOnRequestTimeout: true,
  httpAgent: { keepAlive: true, maxSockets: 50 },
  httpsAgent: { keepAlive: true, maxSockets: 50 },
});

/** The SDK refuses an endpoint together with dual-stack names, which the environment may enable. */
export function at(endpoint: string | null, isDualStack = false): ServiceAddress {
  if (endpoint === null) return { useDualstackEndpoint: isDualStack };
  const named = { endpoint, useDualstackEndpoint: false };
  return isLoopback(endpoint) ? { ...named, credentials: localCredentials } : named;
}

interface ServiceAddress {
  readonly useDualstackEndpoint: boolean;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

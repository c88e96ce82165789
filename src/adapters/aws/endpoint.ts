import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ECSClient } from "@aws-sdk/client-ecs";
import { SQSClient } from "@aws-sdk/client-sqs";
import { isLoopback } from "../http/loopback.ts";

/** Where the AWS services are. An endpoint replaces one service, for example by a local one. */
export interface AwsSettings {
  readonly region: string;
  /** `AWS_ENDPOINT_URL_SQS`, else `AWS_ENDPOINT_URL`; null is the service of the region. */
  readonly sqsEndpoint: string | null;
  /** `AWS_ENDPOINT_URL_DYNAMODB`, else `AWS_ENDPOINT_URL`; null is the service of the region. */
  readonly dynamodbEndpoint: string | null;
  /** `AWS_ENDPOINT_URL_ECS`, else `AWS_ENDPOINT_URL`; null, and left out, is the service of the region. */
  readonly ecsEndpoint?: string | null;
  /** Whether to call the services by the names that answer over IPv6 too. DynamoDB has a gateway of its own. Default false. */
  readonly isDualStack?: boolean;
}

/** For a call without a client of its own. @param isDualStack by the name that answers over IPv6 too. */
export function serviceUrl(service: string, region: string, isDualStack: boolean): string {
  if (!isDualStack) return `https://${service}.${region}.amazonaws.com/`;
  return `https://${service}.${region}.${region.startsWith("cn-") ? "api.amazonwebservices.com.cn" : "api.aws"}/`;
}

const connectMsMax = 2_000;
/** A long poll waits 20 s at the service, so its answer may take longer than any other. */
const longPollMsMax = 30_000;
const lockMsMax = 2_000;
const launchMsMax = 10_000;
/** A launch that ECS throttles is repeated after the job's own wait. */
const launchAttemptsMax = 3;
/** Attempts of one call, throttled ones included; the SDK waits between them with jitter. */
const sqsAttemptsMax = 5;
/** The lock repeats calls itself within its outage bound, and reads back first. */
const lockAttemptsMax = 3;

/** Keep-alive, bounded in time; a throttled call is repeated by the SDK. */
export function sqsClient(settings: AwsSettings): SQSClient {
  return new SQSClient({
    region: settings.region,
    maxAttempts: sqsAttemptsMax,
    requestHandler: timeouts(longPollMsMax),
    ...at(settings.sqsEndpoint, settings.isDualStack),
    // A queue URL may name another host than the endpoint, as emulators do, and always the one of IPv4; the endpoint decides.
    useQueueUrlAsEndpoint: settings.sqsEndpoint === null && settings.isDualStack !== true,
    ...lean,
  });
}

/**
 * A request costs the SDK half a millisecond of CPU, and sending is most of what a relay does. So its middleware is built
 * once, and bodies are not hashed: TLS protects them in transit, and a message is only a hint.
 */
const lean = { cacheMiddleware: true, md5: false } as const;

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
const timeouts = (requestTimeout: number) => ({
  connectionTimeout: connectMsMax,
  requestTimeout,
  throwOnRequestTimeout: true,
  httpAgent: { keepAlive: true, maxSockets: 50 },
  httpsAgent: { keepAlive: true, maxSockets: 50 },
});

/** The SDK refuses an endpoint together with dual-stack names, which the environment may enable. */
function at(endpoint: string | null, isDualStack = false): ServiceAddress {
  if (endpoint === null) return { useDualstackEndpoint: isDualStack };
  const named = { endpoint, useDualstackEndpoint: false };
  return isLoopback(endpoint) ? { ...named, credentials: localCredentials } : named;
}

interface ServiceAddress {
  readonly useDualstackEndpoint: boolean;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** A local service requires a signature but checks no keys. These need no setup, and real keys are never sent to it. */
const localCredentials = { accessKeyId: "local", secretAccessKey: "local" };

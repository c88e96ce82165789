import { partition } from "@aws-sdk/core/client";
import { isLoopback } from "../outside/outside-address.ts";

const connectMsMax = 2_000;

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

/** Of a service in any partition. @param isDualStack by the name that answers over IPv6 too. */
export function serviceUrl(service: string, region: string, isDualStack: boolean): string {
  const { dnsSuffix, dualStackDnsSuffix } = partition(region);
  return `https://${service}.${region}.${isDualStack ? dualStackDnsSuffix : dnsSuffix}/`;
}

/** A local service requires a signature but checks no keys. These need no setup, and real keys are never sent to it. */
export const localCredentials = { accessKeyId: "local", secretAccessKey: "local" };

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

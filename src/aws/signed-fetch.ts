import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { Sha256Node } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";

export interface SignedRequest {
  readonly url: string;
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As AWS signs for it: `secretsmanager`, `lambda` ... */
  readonly service: string;
  readonly region: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

/**
 * One request with an AWS signature, by the credentials of the process: for the few calls that need no SDK
 * client. @throws Error without credentials, or when no answer comes in time; any answer is returned as it is.
 */
export async function signedFetch(request: SignedRequest): Promise<Response> {
  const { url, method, service, region, headers = {}, body = "", timeoutMs } = request;
  const { protocol, hostname, port, host, pathname, searchParams } = new URL(url);
  const signer = new SignatureV4({ service, region, credentials: defaultProvider(), sha256: Sha256Node });
  const signed = await signer.sign({
    protocol,
    hostname,
    method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: { ...headers, host },
    ...(port === "" ? {} : { port: Number(port) }),
    ...(body === "" ? {} : { body }),
  });
  return fetch(url, {
    method,
    // The signature covers only this address, so redirects are not followed.
    redirect: "manual",
    headers: signed.headers,
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === "" ? {} : { body }),
  });
}

/** A call of a service that speaks JSON, with such a target: `AmazonSSM.GetParameter`. */
export function jsonFetch({
  target,
  input,
  ...where
}: Pick<SignedRequest, "url" | "service" | "region" | "timeoutMs"> & {
  readonly target: string;
  readonly input: unknown;
}): Promise<Response> {
  const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": target };
  return signedFetch({ ...where, method: "POST", headers, body: JSON.stringify(input) });
}

/** An object as JSON; without members for any other text. */
export function objectIn<T extends object>(text: string): Partial<T> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

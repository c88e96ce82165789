import { signedFetch } from "./signed-fetch.ts";

const callMsMax = 30_000;

export interface Aws {
  /** Null for AWS itself. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly account: string;
  /** A call of a service that speaks JSON, for example `json("ssm", "AmazonSSM.GetParameter", {...})`. */
  json<T>(service: string, target: string, input: unknown): Promise<T>;
  /** A GET of a service with resources for URLs. */
  get<T>(service: string, path: string): Promise<T>;
  /** A call of a service that speaks forms and answers XML. */
  form(service: string, action: string, input: Readonly<Record<string, string>>): Promise<string>;
}

/** One address for all services, as an emulator has. */
export const awsAt = (endpoint: string, region: string, account: string): Aws =>
  awsBy(() => endpoint, { endpoint, region, account });

export const awsIn = (region: string, account: string): Aws =>
  awsBy((service) => (service === "iam" ? "https://iam.amazonaws.com" : `https://${service}.${region}.amazonaws.com`), {
    endpoint: null,
    region,
    account,
  });

function awsBy(addressOf: (service: string) => string, where: Pick<Aws, "endpoint" | "region" | "account">): Aws {
  const call = async (
    service: string,
    path: string,
    request: Omit<Parameters<typeof signedFetch>[0], "service" | "region" | "timeoutMs" | "url">,
  ) => {
    // IAM has one place, whatever the region.
    const region = service === "iam" ? "us-east-1" : where.region;
    const url = `${addressOf(service)}${path}`;
    const response = await signedFetch({ ...request, url, service, region, timeoutMs: callMsMax });
    const text = await response.text();
    if (!response.ok) throw new Error(`${service} answered ${response.status}: ${text.slice(0, 500)}`);
    return text;
  };
  return {
    ...where,
    async json<T>(service: string, target: string, input: unknown): Promise<T> {
      const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": target };
      return JSON.parse(await call(service, "/", { method: "POST", headers, body: JSON.stringify(input) })) as T;
    },
    async get<T>(service: string, path: string): Promise<T> {
      return JSON.parse(await call(service, path, { method: "GET" })) as T;
    },
    form(service, action, input) {
      const body = new URLSearchParams({ Action: action, ...input }).toString();
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      return call(service, "/", { method: "POST", headers, body });
    },
  };
}

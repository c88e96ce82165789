import { signedFetch, type SignedRequest } from "../../../src/aws/signed-fetch.ts";
import { startProxy } from "../../../src/cli/signed-proxy.ts";
import { judges } from "../../demo/judges.ts";

/** Longer than a stream of events stays open. */
const timeoutMs = 70_000;

/** An address that answers without signatures: the judges' people do not sign. @param url of a function, or of a local system. */
export async function reachApi(url: string, region: string): Promise<string> {
  if (!url.startsWith("https:")) return url;
  const { url: address } = await startProxy(
    ({ method, path, headers, body }) =>
      signedFetch({
        url: new URL(path, url).href,
        method: method as SignedRequest["method"],
        service: "lambda",
        region,
        headers,
        timeoutMs,
        ...(body === "" ? {} : { body }),
      }),
    { isOpen: true },
  );
  return address;
}

interface Row {
  readonly id: string;
  readonly enabled: boolean;
}

/**
 * What comes once a day is off in a stage that lives for an hour, and happens now. @returns their ids.
 * @throws Error when the API refuses one.
 */
export async function triggerDaily(api: string): Promise<readonly string[]> {
  const ours = new Set(judges.flatMap(({ schedules }) => schedules));
  const { schedules } = (await answer(fetch(`${api}/schedules`))) as { schedules: readonly Row[] };
  const daily = schedules.filter(({ id, enabled }) => ours.has(id) && !enabled).map(({ id }) => id);
  for (const id of daily) {
    const headers = { "content-type": "application/json" };
    await answer(fetch(`${api}/schedules/${id}/trigger`, { method: "POST", headers, body: `{"key":"smoke:${id}"}` }));
  }
  return daily;
}

async function answer(asked: Promise<Response>): Promise<unknown> {
  const response = await asked;
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

import { setTimeout as wait } from "node:timers/promises";
import type { TaskPayload } from "./task.ts";

/** One request of a client, and how the publisher will treat its report. The same on every machine. */
export interface Request {
  readonly job_key: string;
  readonly type: TaskPayload["type"];
  readonly payload: { readonly report: string };
}

/** Attempts of a `flaky` report that the publisher answers with 503. */
export const refusedTries = 2;

/** The mix of a day: of twenty, fourteen succeed, three are flaky, one is rejected; of a hundred, one hangs and one dies. */
export function requests(count: number, tag = "day"): readonly Request[] {
  return Array.from({ length: count }, (_, index) => {
    const report = `${tag}-${String(index + 1).padStart(5, "0")}`;
    return { job_key: `report:${report}`, type: typeOf(index + 1), payload: { report } };
  });
}

function typeOf(n: number): Request["type"] {
  if (n % 50 === 13) return "hang";
  if (n % 50 === 37) return "die";
  if (n % 20 === 9) return "rejected";
  return n % 7 === 3 ? "flaky" : "succeed";
}

export interface Created {
  readonly status: number;
  readonly created: boolean;
  readonly jobId: string;
}

const sendingsMax = 10;

/** A client: sends a request again when it got no answer or a 5xx, which the key makes harmless. */
export async function create(api: string, request: Request): Promise<Created> {
  let answer = await send(api, request);
  for (let sent = 1; answer.status >= 500 && sent < sendingsMax; sent++) {
    await wait(sent * 500);
    answer = await send(api, request);
  }
  return answer;
}

async function send(api: string, request: Request): Promise<Created> {
  const headers = { "content-type": "application/json" };
  const options = { method: "POST", headers, body: JSON.stringify(request), signal: AbortSignal.timeout(15_000) };
  try {
    const response = await fetch(`${api}/apps/taskflow/jobs`, options);
    const said = (await response.json()) as { created?: boolean; id?: string };
    return { status: response.status, created: said.created ?? false, jobId: said.id ?? "" };
  } catch {
    return { status: 599, created: false, jobId: "" };
  }
}

import type { OperationAt, ReplyAt } from "../api/api.ts";
import { correct } from "./clock.ts";
import { noAnswer } from "./live.ts";
import { words } from "./language/words.ts";
import { parsedJson } from "./payload/fields.ts";

/** What the API answered instead of a result, in its own words. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** 0 when nothing answered. */
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

interface Asking {
  readonly signal?: AbortSignal;
  /** Of what changes something. */
  readonly body?: object;
  /** Only while the object has this one. */
  readonly version?: number;
}

export type AskValues = Readonly<Record<string, string | number | null>>;

/** One request. Of `values` those that its path names go there; of the others those that are set are its query. @throws ApiError */
export async function ask<A extends OperationAt>(
  at: A,
  values: AskValues = {},
  { signal, body = {}, version }: Asking = {},
): Promise<ReplyAt<A>> {
  const [method = "GET", pattern = ""] = at.split(" ");
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== "" && !pattern.split("/").includes(`:${name}`)) query.set(name, String(value));
  }
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const isWritten = method !== "GET" && method !== "DELETE";
  return await answered<ReplyAt<A>>(query.size === 0 ? path : `${path}?${query}`, {
    method,
    // What a page sends as it is left is sent to its end.
    keepalive: document.visibilityState === "hidden",
    headers: {
      accept: "application/json",
      ...(isWritten ? { "content-type": "application/json" } : {}),
      ...(version === undefined ? {} : { "if-match": `"${version}"` }),
    },
    ...(isWritten ? { body: JSON.stringify(body) } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function answered<T>(path: string, init: RequestInit): Promise<T> {
  const response = await reach(path, init);
  const body = parsedJson(await response.text());
  if (response.ok) return body as T;
  const { code, detail } = (body ?? {}) as { readonly code?: string; readonly detail?: string };
  throw new ApiError(response.status, code ?? "no-problem", detail ?? words.shared.answered(response.status));
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(path, init);
    correct(response.headers.get("date"), false);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    noAnswer();
    throw new ApiError(0, "unreachable", words.shared.unreachable);
  }
}

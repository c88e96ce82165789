import { noAnswer } from "./live.ts";
import { words } from "./language/words.ts";

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

interface ProblemDocument {
  readonly code?: string;
  readonly detail?: string;
}

/** @throws ApiError */
export const get = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  await answered<T>(path, { headers: { accept: "application/json" }, ...(signal === undefined ? {} : { signal }) });

/** @throws ApiError */
export const post = async <T>(path: string, body: unknown = {}): Promise<T> => await send<T>("POST", path, body);

/** With `version`, only while the object has that one. @throws ApiError */
export const send = async <T>(method: string, path: string, body?: unknown, version?: number): Promise<T> =>
  await answered<T>(path, {
    method,
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(version === undefined ? {} : { "if-match": `"${version}"` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** Query text of the fields that are set, with its question mark. */
export function query(fields: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

async function answered<T>(path: string, init: RequestInit): Promise<T> {
  const response = await reach(path, init);
  const text = await response.text();
  const body = text === "" ? null : parse(text);
  if (response.ok) return body as T;
  const { code, detail } = (body ?? {}) as ProblemDocument;
  throw new ApiError(response.status, code ?? "no-problem", detail ?? words.shared.answered(response.status));
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    noAnswer();
    throw new ApiError(0, "unreachable", words.shared.unreachable);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

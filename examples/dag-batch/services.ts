import { RetryLater } from "belfry";
import { httpClient } from "belfry/http";
import type { ShopDay } from "./books.ts";

export interface Settlement extends ShopDay {
  /** Null when it could not be found out. */
  readonly diff: number | null;
  readonly ticket: string | null;
}

export interface TaskOrder {
  readonly graph: string;
  readonly task: string;
  readonly seconds: number;
}

interface Call {
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** The bank, the accounting office and the cluster. Errors are those of the HTTP client. */
export interface Services {
  statement(shopDay: ShopDay, signal: AbortSignal): Promise<{ cents: number }>;
  publish(settlement: Settlement, call: Call): Promise<{ receipt: string }>;
  /** Resolves when the task has run. */
  runTask(order: TaskOrder, call: Call): Promise<{ node: string }>;
}

let opened: Services | null = null;

/** Made once a process, and not before a handler asks: definitions open nothing. */
export function services(): Services {
  opened ??= connect(need("DAG_SERVICES_URL"));
  return opened;
}

function connect(baseUrl: string): Services {
  const http = httpClient({ baseUrl, headersMs: 90_000, totalMs: 100_000, answerBytesMax: 4_096 });
  const post = async (path: string, json: unknown, call: Call): Promise<object> =>
    bodyOf((await http.send({ method: "POST", path, json, ...call })).json());
  return {
    async statement({ shop, day }, signal) {
      const body = bodyOf((await http.send({ path: `/statements/${day}/${shop}`, signal })).json());
      return { cents: Number(field(body, "cents")) };
    },
    publish: async (settlement, call) => ({ receipt: field(await post("/settlements", settlement, call), "receipt") }),
    runTask: async (order, call) => ({ node: field(await post("/tasks", order, call), "node") }),
  };
}

const bodyOf = (body: unknown): object => (typeof body === "object" && body !== null ? body : {});

function field(body: object, name: string): string {
  const value: unknown = Reflect.get(body, name);
  if (typeof value === "string" || typeof value === "number") return String(value);
  throw new RetryLater(`the answer has no "${name}"`, { code: "SERVICE_ANSWER" });
}

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the example's services report it when they start`);
  return value;
}

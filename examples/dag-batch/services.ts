import { httpClient } from "belfry/http";
import { z } from "zod";
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

const limits = { headersMs: 90_000, totalMs: 100_000, answerBytesMax: 4_096 };
const http = httpClient({ baseUrl: { env: "DAG_SERVICES_URL" }, ...limits });
const post = (path: string, json: unknown, call: Call) => http.send({ method: "POST", path, json, ...call });

/** What the bank says of a shop's day. */
export const statement = async ({ shop, day }: ShopDay, signal: AbortSignal) =>
  (await http.send({ path: `/statements/${day}/${shop}`, signal })).json(z.object({ cents: z.number() }));

/** To the accounting office. */
export const publish = async (settlement: Settlement, call: Call) =>
  (await post("/settlements", settlement, call)).json(z.object({ receipt: z.string() }));

/** Resolves when the task has run on the cluster. */
export const runTask = async (order: TaskOrder, call: Call) =>
  (await post("/tasks", order, call)).json(z.object({ node: z.string() }));

import { createHash } from "node:crypto";
import { canonical } from "../define/payload.ts";
import { type KeyedRequest, readRequest, RequestKeyTaken } from "../insight/request-key.ts";
import type { Caller } from "./caller.ts";
import type { Answer, JsonAnswer } from "./json-answer.ts";
import type { ApiOptions } from "./options.ts";
import { HttpProblem } from "./problem.ts";

interface Once {
  readonly name: string;
  readonly asked: {
    readonly params?: unknown;
    readonly body: { readonly key?: string | undefined };
    readonly caller: Caller;
  };
  /** Makes what is asked for, and keeps the request in the same transaction. */
  make(request?: KeyedRequest): Promise<Answer>;
  /** The answer with what the first request made. */
  again(made: string): Promise<JsonAnswer>;
}

/**
 * Makes something once for a request's key; without one each request makes something.
 * @throws HttpProblem 409 where another request has the key
 */
export async function once({ insight }: Pick<ApiOptions, "insight">, work: Once): Promise<Answer> {
  const { key } = work.asked.body;
  if (key === undefined) return await work.make();
  const request = { key, hash: hashOf(work) };
  let [kept] = await insight.run(readRequest, key);
  if (kept === undefined) {
    try {
      return await work.make(request);
    } catch (error) {
      [kept] = error instanceof RequestKeyTaken ? await insight.run(readRequest, key) : [];
      if (kept === undefined) throw error;
    }
  }
  if (kept.hash === request.hash) return { ...(await work.again(kept.made)), unchanged: true };
  throw new HttpProblem("key-conflict", `the key ${JSON.stringify(key)} belongs to another request: take a new one`);
}

/** The scope of its caller narrows what a request changes, so it is a part of it. */
function hashOf({ name, asked: { params, body, caller } }: Once): string {
  const { key: _key, ...rest } = body;
  const text = canonical({ name, params, rest, scope: caller.scope });
  return createHash("sha256").update(text).digest("hex");
}

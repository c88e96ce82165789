import { type Call, serve } from "../support/replies.ts";

export type Received = Pick<Call, "headers" | "body">;

/** A real HTTP server that keeps what it gets and answers what `answer` says; null answers nothing at all. */
export async function receiver(
  answer: (n: number) => { status: number; body?: string } | null,
): Promise<{ readonly url: string; readonly received: readonly Received[] }> {
  const { url, calls } = await serve((_request, response) => {
    const said = answer(calls.length);
    if (said !== null) response.writeHead(said.status).end(said.body ?? "");
  });
  return { url: `${url}/hook`, received: calls };
}

/** GET /events of the front: the streams of all cells as one. */
import { setTimeout as wait } from "node:timers/promises";
import { HttpProblem } from "../api/problem.ts";
import type { Log } from "../core/ports/ports.ts";
import { type Asking, type FrontCell, headersOf } from "./ask.ts";
import { readCursor, writeCursor } from "./pages.ts";

const againMs = 2_000;

/** Each message has the place in every cell's stream as its id, so a client goes on where it was. */
export function eventsOfAll(
  cells: ReadonlyMap<string, FrontCell>,
  { request, query }: Asking,
  { log }: { readonly log: Log },
): Response {
  if (!(request.headers.get("accept") ?? "").includes("text/event-stream")) {
    throw new HttpProblem(
      "ask-the-cell",
      `pages of events are of one cell: name it, ?cell=${[...cells.keys()].join(" or ?cell=")}`,
    );
  }
  const places: Record<string, string | null> = {
    ...readCursor(request.headers.get("last-event-id") ?? query.get("cursor") ?? ""),
  };
  const ended = new AbortController();
  request.signal.addEventListener("abort", () => ended.abort());
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(out) {
      for (const [cell, { api }] of cells) {
        const say = (message: string): void => {
          const id = /^id: ?(.*)$/m.exec(message)?.[1];
          if (id !== undefined) places[cell] = id;
          const own = id === undefined ? message : message.replace(/^id: ?.*$/m, `id: ${writeCursor(places)}`);
          if (!ended.signal.aborted) out.enqueue(encoder.encode(`${own}\n\n`));
        };
        void follow({
          url: urlOf(api, query),
          request,
          place: () => places[cell] ?? null,
          ended: ended.signal,
          say,
          log,
        });
      }
    },
    cancel: () => ended.abort(),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
}

function urlOf(api: string, query: URLSearchParams): URL {
  const url = new URL("/events", api);
  const own = new URLSearchParams(query);
  own.delete("cursor");
  url.search = own.toString();
  return url;
}

interface Followed {
  readonly url: URL;
  readonly request: Request;
  readonly place: () => string | null;
  readonly ended: AbortSignal;
  readonly say: (message: string) => void;
  readonly log: Log;
}

/** One cell's stream, opened again when it ends, until the caller has gone. */
async function follow({ url, request, place, ended, say, log }: Followed): Promise<void> {
  while (!ended.aborted) {
    try {
      const headers = headersOf(request);
      headers.delete("last-event-id");
      const from = place();
      if (from !== null) headers.set("last-event-id", from);
      const answer = await fetch(url, { headers, signal: ended });
      let text = "";
      for await (const part of (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
        const messages = `${text}${part}`.split("\n\n");
        text = messages.pop() ?? "";
        messages.forEach(say);
      }
    } catch (error) {
      if (!ended.aborted) log.warn("a cell's events ended", { url: url.origin, error });
    }
    await wait(againMs, undefined, { signal: ended }).catch(() => {});
  }
}

import { expect, test } from "vitest";
import type { IncomingMessage } from "node:http";
import { eventsOfAll } from "../../src/cells/events.ts";
import { readCursor } from "../../src/cells/pages.ts";
import { recordingLog } from "../../src/testing/recording.ts";
import { type Answer, serve } from "../support/replies.ts";

const accept = { accept: "text/event-stream" };
const placeOf = ({ headers }: Pick<IncomingMessage, "headers">) => headers["last-event-id"];

/** A cell whose stream ends after one event at each of these places; after the last it stays open. */
async function cellWith(...places: string[]) {
  const answers = places.map((place): Answer => (_, response) => {
    response.writeHead(200, accept).write(`id: ${place}\nevent: job\ndata: {}\n\n`);
    response.end();
  });
  return await serve(...answers, (_, response) => response.writeHead(200, accept).flushHeaders());
}

test("a cell's stream that ended is opened again where it was, and each message has the places of all", async () => {
  const [a, b] = [await cellWith("a1", "a2"), await cellWith("b1")];
  const cells = new Map([
    ["a", { api: a.url }],
    ["b", { api: b.url }],
  ]);
  const request = new Request("http://127.0.0.1/events", { headers: accept });
  const { body } = eventsOfAll(
    cells,
    { request, path: "/events", query: new URLSearchParams() },
    { log: recordingLog([]) },
  );
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  while (!text.includes("id: ") || text.match(/^id: /gm)?.length !== 3)
    text += new TextDecoder().decode((await reader.read()).value);
  await expect.poll(() => a.calls.length).toBe(3);
  await reader.cancel();
  expect(a.calls.map(placeOf)).toEqual([undefined, "a1", "a2"]);
  expect(b.calls.map(placeOf)).toEqual([undefined, "b1"]);
  const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, id = ""]) => readCursor(id));
  expect(ids.at(-1)).toEqual({ a: "a2", b: "b1" });
});

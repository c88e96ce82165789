import { Agent, get, type IncomingMessage } from "node:http";

/** One client of the stream of events. It comes back by itself, from the last id it saw. */
export interface Follower {
  /** When each event came first (`performance.now()`), by its id. */
  readonly seen: ReadonlyMap<string, number>;
  readonly connections: number;
  /** Ends the connection in the middle. */
  cut(): void;
  stop(): void;
}

const agent = new Agent({ keepAlive: false });

/** @returns once the stream has begun. */
export async function follow(url: string): Promise<Follower> {
  const seen = new Map<string, number>();
  const begun = Promise.withResolvers<void>();
  let lastId: string | null = null;
  let isOver = false;
  let connections = 0;
  let current: { destroy(): void } | null = null;

  const take = (frame: string): void => {
    const id = /^id: (.+)$/m.exec(frame)?.[1];
    if (id !== undefined) lastId = id;
    begun.resolve();
    const event = /^event: job\ndata: \{"id":"(\d+)"/m.exec(frame)?.[1];
    if (event !== undefined && !seen.has(event)) seen.set(event, performance.now());
  };
  const read = (response: IncomingMessage): void => {
    let rest = "";
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      const frames = (rest + text).split("\n\n");
      rest = frames.pop() ?? "";
      frames.filter((frame) => !frame.startsWith("retry")).forEach(take);
    });
    response.once("close", connect).on("error", () => {});
  };
  function connect(): void {
    if (isOver) return;
    connections += 1;
    const headers = { accept: "text/event-stream", ...(lastId === null ? {} : { "last-event-id": lastId }) };
    let isAnswered = false;
    const request = get(`${url}/events`, { agent, headers }, (response) => {
      isAnswered = true;
      read(response);
    });
    request.on("error", () => (isAnswered ? undefined : connect()));
    current = request;
  }
  connect();
  await begun.promise;
  return {
    seen,
    get connections() {
      return connections;
    },
    cut: () => current?.destroy(),
    stop() {
      isOver = true;
      current?.destroy();
    },
  };
}

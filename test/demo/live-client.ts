/** A page that is open: follows a user's stream, comes back when it ends, and goes on where it was. */
export interface LiveClient {
  /** Ids in the order they came. */
  readonly ids: readonly string[];
  /** Ends the connection in the middle; the client comes back by itself. */
  cut(): void;
  stop(): Promise<void>;
}

const comeBackMs = 200;

export function startLiveClient(url: string): LiveClient {
  const ids: string[] = [];
  const over = new AbortController();
  let connection = new AbortController();
  const following = follow();
  return {
    ids,
    cut: () => connection.abort(),
    async stop() {
      over.abort();
      await following;
    },
  };

  async function follow(): Promise<void> {
    while (!over.signal.aborted) {
      connection = new AbortController();
      await readOnce(AbortSignal.any([over.signal, connection.signal])).catch(() => undefined);
      if (!over.signal.aborted) await comeBack();
    }
  }

  /** Nothing that a page does keeps a demonstration from ending. */
  function comeBack(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(() => resolve(), comeBackMs).unref();
    return promise;
  }

  async function readOnce(signal: AbortSignal): Promise<void> {
    const last = ids.at(-1);
    const response = await fetch(url, { signal, headers: last === undefined ? {} : { "last-event-id": last } });
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString("utf8");
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) ids.push(...(/^id: (.+)$/m.exec(event)?.slice(1) ?? []));
    }
  }
}

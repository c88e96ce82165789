/** Reads server-sent events from a response. With `fetch` a reconnect can name the last event, also after a pause. */

export interface StreamMessage {
  readonly event: string;
  readonly data: string;
}

interface Listener {
  readonly onMessage: (message: StreamMessage) => void;
  /** Where to go on after a break. May come without an event. */
  readonly onId: (id: string) => void;
  /** How long the server asks to stay away once the answer has ended. */
  readonly onRetry: (ms: number) => void;
  /** Something arrived: the connection lives. */
  readonly onBytes: () => void;
}

/** Calls `onMessage` for each event until the server ends the answer. @throws when the connection breaks. */
export async function readMessages(body: ReadableStream<Uint8Array<ArrayBuffer>>, listener: Listener): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const lines = lineReader();
  let fields = blank();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    listener.onBytes();
    for (const line of lines(value)) {
      if (line.startsWith("retry: ")) listener.onRetry(Number(line.slice(7)));
      else if (line !== "") fields = withLine(fields, line);
      else {
        if (fields.data !== null) listener.onMessage({ event: fields.event, data: fields.data });
        if (fields.id !== null) listener.onId(fields.id);
        fields = blank();
      }
    }
  }
}

interface Fields {
  readonly event: string;
  readonly id: string | null;
  readonly data: string | null;
}

const blank = (): Fields => ({ event: "message", id: null, data: null });

/** A line that starts with a colon is a comment: it only shows that the connection lives. */
function withLine(fields: Fields, line: string): Fields {
  const colon = line.indexOf(":");
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "data") return { ...fields, data: fields.data === null ? value : `${fields.data}\n${value}` };
  if (name === "event") return { ...fields, event: value };
  return name === "id" ? { ...fields, id: value } : fields;
}

/** Whole lines of what arrived so far. */
function lineReader(): (chunk: string) => readonly string[] {
  let rest = "";
  return (chunk) => {
    const parts = (rest + chunk).split(/\r?\n/);
    rest = parts.pop() ?? "";
    return parts;
  };
}

import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { SMTPServerDataStream, SMTPServerSession } from "smtp-server";
import { SMTPServer } from "./local-packages.ts";
import { listenOnLoopback, type LocalServer } from "./server.ts";

export interface MailSink extends LocalServer {
  /** Append-only, one JSON line a mail: when, from, to, file. */
  readonly ledger: string;
}

/** Takes every mail and delivers none: each is kept as a file, and noted in the ledger before it is answered for. */
export async function startMailSink(options: { folder: string; port?: number }): Promise<MailSink> {
  mkdirSync(options.folder, { recursive: true });
  const ledger = join(options.folder, "ledger.jsonl");
  const startedAt = Date.now();
  let count = 0;

  const keep = async (stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> => {
    const file = `${startedAt}-${++count}.eml`;
    await pipeline(stream, createWriteStream(join(options.folder, file)));
    const { mailFrom, rcptTo } = session.envelope;
    const line = {
      at: new Date().toISOString(),
      from: mailFrom ? mailFrom.address : null,
      to: rcptTo.map((to) => to.address),
      file,
    };
    await appendFile(ledger, `${JSON.stringify(line)}\n`);
  };

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    onData: (stream, session, callback) => void keep(stream, session).then(() => callback(), callback),
  });
  // A client that hangs up in the middle is its own problem.
  server.on("error", () => {});
  const port = await listenOnLoopback(server.server, options.port ?? 0, "the mail sink");
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    ledger,
    async stop() {
      const closed = once(server.server, "close");
      server.close();
      await closed;
    },
  };
}

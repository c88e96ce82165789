/**
 * The outside world, as a process of its own: takes one record a request, appends it to a file and then answers.
 * It knows nothing of jobs or tries; what it wrote down is what really happened, also of a process that died.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("usage: ledger-target.ts FILE");
const file = openSync(path, "a");
let n = 0;

const server = createServer((request, response) => {
  void body(request).then(
    (text) => {
      const record = { n: ++n, at: Date.now(), ...(JSON.parse(text) as object) };
      writeSync(file, `${JSON.stringify(record)}\n`);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    },
    () => response.destroy(),
  );
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) process.stdout.write(`${address.port}\n`);
});
// The process that started it holds the other end, and may be killed.
process.stdin.resume();
process.stdin.once("close", () => process.exit(0));
process.on("SIGTERM", () => {
  server.closeAllConnections();
  server.close(() => {
    closeSync(file);
    process.stdin.destroy();
  });
});

async function body(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

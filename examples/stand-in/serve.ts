import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** Serves on 127.0.0.1 at `PORT`, tells the starter the addresses (`examples/stand-in.ts`) and stops on SIGTERM. */
export function serve(name: string, listener: RequestListener, env: (url: string) => Record<string, string>): void {
  const server = createServer(listener);
  server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    console.log(JSON.stringify({ ready: name, env: env(`http://127.0.0.1:${port}`) }));
  });
  process.once("SIGTERM", () => process.exit(0));
}

/** The folder given by the starter. */
export function home(): string {
  const folder = process.env["STAND_IN_HOME"];
  if (!folder) throw new Error("STAND_IN_HOME is not set: name a folder for the ledger");
  return folder;
}

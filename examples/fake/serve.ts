import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Server } from "node:net";

type Environment = Readonly<Record<string, string>>;

/** Serves HTTP; see `listen`. */
export function serve(name: string, listener: RequestListener, env: (url: string) => Environment): void {
  listen(name, createServer(listener), (place) => env(`http://${place}`));
}

/** Listens on `HOST` at `PORT`, reports its addresses to its starter (`examples/fake.ts`) and stops on SIGTERM. */
export function listen(name: string, server: Server, env: (place: string) => Environment): void {
  const host = process.env["HOST"] || "127.0.0.1";
  server.listen(Number(process.env["PORT"] ?? 0), host, () => {
    const { port } = server.address() as AddressInfo;
    console.log(JSON.stringify({ ready: name, env: env(`${host}:${port}`) }));
  });
  process.once("SIGTERM", () => process.exit(0));
}

/** The folder given by the starter. */
export function home(): string {
  const folder = process.env["FAKE_HOME"];
  if (!folder) throw new Error("FAKE_HOME is not set: name a folder for the ledger");
  return folder;
}

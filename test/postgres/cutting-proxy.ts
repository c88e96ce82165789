import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";

/** Where the connection is cut when a COMMIT passes by. */
export type Cut = "before-commit" | "after-commit" | "never";

export interface CuttingProxy {
  /** The database's address, through this proxy. */
  readonly url: string;
  /** Applies to the next COMMIT only. `refuses`: so many connections are not let through afterwards. */
  cutNext(cut: Cut, options?: { refuses: number }): void;
  close(): Promise<void>;
}

/** A wire between client and server that breaks exactly where the outcome of a commit becomes unclear. */
export async function cuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  let next: Cut = "never";
  let refusesThen = 0;
  let refuses = 0;
  const server = createServer((client) => {
    if (refuses > 0) {
      refuses -= 1;
      return void client.destroy();
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
    }
    let isCut = false;
    client.on("data", (chunk) => {
      const cut = chunk.includes("commit\0") ? next : "never";
      if (cut === "never") return void upstream.write(chunk);
      next = "never";
      isCut = true;
      refuses = refusesThen;
      if (cut === "before-commit") return void upstream.destroy();
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (isCut) client.destroy();
      else client.write(chunk);
    });
    upstream.on("close", () => client.destroy());
    client.on("close", () => upstream.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  const url = new URL(databaseUrl);
  url.port = String(address.port);
  return {
    url: url.href,
    cutNext(cut, options) {
      next = cut;
      refusesThen = options?.refuses ?? 0;
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

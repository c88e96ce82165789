import { connect, createServer, type Socket } from "node:net";
import { listenOnLoopback } from "../../src/local/services/server.ts";

/** A network in front of a TCP server, which can be slow or lose everything. */
export interface Wire {
  readonly port: number;
  /** From now on every piece of data takes this long, each way; `jitterMs` more or less by chance. Order is kept. */
  delay(ms: number, jitterMs: number): void;
  /**
   * Nothing gets through, and no side notices. Connections that were open stay dead when it ends, as after a router that
   * forgot them; new ones are answered again.
   */
  blackHole(on: boolean): void;
  /** From now on it leads to another server: connections to the one before end. */
  leadTo(port: number): void;
  /** Connections that were made through it so far. */
  readonly made: number;
  stop(): Promise<void>;
}

/** @param url of the server behind it */
export async function startWire(url: string, random: () => number): Promise<Wire> {
  const target = new URL(url);
  let ms = 0;
  let jitterMs = 0;
  let isHole = false;
  let targetPort = Number(target.port);
  let made = 0;
  const sockets = new Set<Socket>();
  const dead = new WeakSet<Socket>();
  const delayMs = (): number => Math.max(0, ms + (random() * 2 - 1) * jitterMs);

  const pass = (from: Socket, to: Socket, of: Socket): void => {
    let freeAt = 0;
    const later = (act: () => void): void => {
      const now = performance.now();
      // A piece never overtakes the one before it.
      freeAt = Math.max(now + delayMs(), freeAt);
      setTimeout(() => {
        if (!dead.has(of) && !to.destroyed) act();
      }, freeAt - now);
    };
    from.on("data", (data) => later(() => to.write(data)));
    from.on("end", () => later(() => to.end()));
    from.on("error", () => later(() => to.destroy()));
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    made += 1;
    sockets.add(near);
    near.setNoDelay(true);
    near.on("error", () => {});
    near.once("close", () => sockets.delete(near));
    // What is tried in the hole is lost, even when the hole ends a moment later.
    if (isHole) return void dead.add(near);
    const far = connect({ host: target.hostname, port: targetPort, allowHalfOpen: true });
    far.setNoDelay(true);
    far.on("error", () => near.destroy());
    near.once("close", () => far.destroy());
    far.once("close", () => {
      if (!dead.has(near)) near.destroy();
    });
    pass(near, far, near);
    pass(far, near, near);
  });
  const port = await listenOnLoopback(server, 0, "the wire");
  return {
    port,
    delay(next, jitter) {
      ms = next;
      jitterMs = jitter;
    },
    blackHole(on) {
      isHole = on;
      if (on) for (const socket of sockets) dead.add(socket);
    },
    leadTo(next) {
      targetPort = next;
      for (const socket of sockets) socket.destroy();
    },
    get made() {
      return made;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

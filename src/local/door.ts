import type { ChildProcess } from "node:child_process";
import { createServer, type Socket } from "node:net";
import { listenOnLoopback } from "./services/server.ts";

/** A port that stays open while the process behind it is replaced: each connection goes to the process that serves now. */
export interface Door {
  readonly port: number;
  /** Null: connections wait until there is a process again. */
  leadTo(child: ChildProcess | null): void;
  close(): void;
}

/** Connections that wait for a process; further ones are ended. */
const waitingMax = 1_000;

/** @throws Error that names the port when it is taken. */
export async function openDoor(port: number, what: string): Promise<Door> {
  let behind: ChildProcess | null = null;
  const waiting = new Set<Socket>();
  const handed = new Set<Socket>();
  const hand = (socket: Socket): void => {
    if (behind?.connected === true) {
      handed.add(socket);
      behind.send("connection", socket, (error) => {
        handed.delete(socket);
        if (error !== null) socket.destroy();
      });
    } else if (waiting.size < waitingMax) waiting.add(socket);
    else socket.destroy();
  };
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // A caller that leaves while it waits is no failure.
    socket.on("error", () => socket.destroy());
    socket.once("close", () => waiting.delete(socket));
    hand(socket);
  });
  const own = await listenOnLoopback(server, port, what);
  return {
    port: own,
    leadTo(child) {
      behind = child;
      if (child === null) {
        // The process that died had not taken these.
        for (const socket of handed) socket.destroy();
        return;
      }
      const left = [...waiting];
      waiting.clear();
      for (const socket of left) hand(socket);
    },
    close() {
      // Its end is not waited for: that comes when the last connection of the process behind it has ended.
      server.close();
      for (const socket of waiting) socket.destroy();
    },
  };
}

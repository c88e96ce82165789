import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { listenOnLoopback } from "./services/server.ts";

/** A port that stays open while the process behind it is replaced: each connection goes to the process that serves now. */
export interface StablePort {
  readonly port: number;
  /** Null: connections wait until there is a process again. */
  leadTo(child: ChildProcess | null): void;
  close(): void;
}

/** Connections that wait for a process; further ones are ended. */
const waitingMax = 1_000;
/** On their way to the process, which takes one after the other. The others wait here, where those who leave are noticed. */
const handedMax = 8;
const lookMs = 250;

/** @throws Error that names the port when it is taken. */
export async function openDoor(port: number, what: string): Promise<StablePort> {
  let behind: ChildProcess | null = null;
  let lookedMs = performance.now();
  const waiting = new Set<Socket>();
  /** On their way to the process behind, in their order: it says of each that it has it, and what it did not take waits for the next one. */
  let handed: Socket[] = [];
  const hand = (): void => {
    dropClosed();
    for (const socket of waiting) {
      if (behind?.connected !== true || handed.length >= handedMax) return;
      waiting.delete(socket);
      handed.push(socket);
      behind.send("connection", socket, { keepOpen: true }, (error) => {
        if (error !== null) socket.destroy();
      });
    }
  };
  const follow = (child: ChildProcess): void => {
    const mine: Socket[] = [];
    handed = mine;
    child.on("message", (message) => {
      if ((message as { readonly say?: unknown }).say !== "taken") return;
      // Its copy of the connection goes on.
      mine.shift()?.destroy();
      if (behind === child) hand();
    });
    child.once("exit", () => {
      // It has read nothing of what it did not take.
      for (const socket of mine.splice(0)) if (!socket.destroyed) waiting.add(socket);
      hand();
    });
  };
  /** A socket that no process reads does not say that its caller has left. */
  const dropClosed = (): void => {
    if (waiting.size === 0 || performance.now() - lookedMs < lookMs) return;
    lookedMs = performance.now();
    const open = openPeers(own);
    for (const socket of waiting) if (open?.has(socket.remotePort ?? 0) === false) socket.destroy();
  };
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    if (waiting.size >= waitingMax) return void socket.destroy();
    // A caller that leaves while it waits is no failure.
    socket.on("error", () => socket.destroy());
    socket.once("close", () => waiting.delete(socket));
    waiting.add(socket);
    hand();
  });
  const own = await listenOnLoopback(server, port, what);
  return {
    port: own,
    leadTo(child) {
      behind = child;
      if (child !== null) follow(child);
      hand();
    },
    close() {
      // Its end is not waited for: that comes when the last connection of the process behind it has ended.
      server.close();
      for (const socket of waiting) socket.destroy();
    },
  };
}

/** The ports at the other end of this port's open connections; null where the system does not list them. */
function openPeers(port: number): ReadonlySet<number> | null {
  try {
    const rows = readFileSync("/proc/net/tcp", "utf8").matchAll(/: \w{8}:(\w{4}) \w{8}:(\w{4}) 01 /g);
    return new Set(
      [...rows].flatMap(([, local = "", peer = ""]) => (parseInt(local, 16) === port ? [parseInt(peer, 16)] : [])),
    );
  } catch {
    return null;
  }
}

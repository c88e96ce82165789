import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

/** The user whose program holds the other end of a connection on 127.0.0.1; null where the system does not say: Linux does. */
export async function peerUser({ remotePort = 0, localPort = 0 }: Pick<Socket, "remotePort" | "localPort">) {
  const table = await readFile("/proc/net/tcp", "utf8").catch(() => "");
  const end = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const ends = `${end(remotePort)} ${end(localPort)}`;
  const row = table.split("\n").find((line) => line.includes(ends));
  const uid = row?.trim().split(/\s+/)[7];
  return uid === undefined ? null : Number(uid);
}

/** Root may act for every user anyway: some systems hand the connections of a browser on under it. */
export async function isOtherUser(
  socket: Pick<Socket, "remotePort" | "localPort">,
  own = process.getuid?.(),
): Promise<boolean> {
  const peer = await peerUser(socket);
  return peer !== null && peer !== 0 && peer !== own;
}

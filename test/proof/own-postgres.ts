import { join } from "node:path";
import { type RunningPostgres, startPostgres } from "../../src/local/services/postgres.ts";
import type { ProofContext } from "./proof.ts";

/** A server of the case's own, which may go away; it comes back on its port with what was committed. */
export interface OwnPostgres {
  readonly url: string;
  pid(): number;
  /** Stops it, by `immediate` unless it is said otherwise, and starts it again when `during` is over. */
  away(during: () => Promise<unknown>, mode?: Parameters<RunningPostgres["stop"]>[0]): Promise<void>;
  stop(): Promise<void>;
}

export async function startOwnPostgres(context: ProofContext): Promise<OwnPostgres> {
  const folder = join(context.folder, "postgres");
  const start = (port: number) => startPostgres({ folder, port, settings: { max_connections: "200" } });
  let server = await start(0);
  return {
    url: server.url,
    pid: () => server.pid,
    async away(during, mode = "immediate") {
      await server.stop(mode);
      await during();
      server = await start(server.port);
    },
    stop: () => server.stop("immediate"),
  };
}

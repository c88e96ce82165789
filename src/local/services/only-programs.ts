import type { IncomingMessage, RequestListener, Server } from "node:http";
import { isLocalHost } from "../../api/guard.ts";

/**
 * Lets a fake of an AWS service answer the programs of this machine alone. It checks no signature, so a web page could read and
 * write it: browsers send `Origin` or `Sec-Fetch-Site`, and a name that was pointed at this machine stands in `Host`.
 */
export function onlyPrograms(server: Server): void {
  const listeners = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    if (isOfProgram(request)) return listeners.forEach((listen) => listen.call(server, request, response));
    request.resume();
    response.writeHead(403, { "content-type": "text/plain", connection: "close" });
    response.end("this service answers only programs of this machine\n");
  });
}

const isOfProgram = ({ headers }: IncomingMessage): boolean =>
  isLocalHost(headers.host) && headers.origin === undefined && headers["sec-fetch-site"] === undefined;

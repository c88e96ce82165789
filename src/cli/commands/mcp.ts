import { once } from "node:events";
import { Command } from "commander";
import { api } from "../api.ts";
import type { ApiDocument } from "../mcp.ts";
import { CliError, exitCodes } from "../exit.ts";
import type { Output, World } from "../output.ts";
import { portOf, startProxy } from "../signed-proxy.ts";

/** Over stdin and stdout, as an assistant starts it; with a port for those that ask over HTTP. */
export function mcpCommand(world: World, out: Output): Command {
  return new Command("mcp")
    .option("--write", "also what changes something, with your rights: enqueue, retry, cancel, pause ...")
    .option("--port <n>", "over HTTP on this machine, 0: a free one (default: over stdin and stdout)", portOf)
    .addHelpText("after", "\nExample:\n  $ npx belfry mcp --stage prod")
    .action(async ({ write = false, port }: { write?: boolean; port?: number }, command: Command) => {
      const { createMcpHandler, serveStdio, mcpServer } = await protocol();
      const client = api(world, command);
      // What would fail with each tool is said at once.
      await client.call("getHealth");
      // As the API says it of itself: another release than this one may have other operations.
      const document = await client.request<ApiDocument>({ method: "GET", path: "/openapi.json" });
      const serve = () => mcpServer(client, { document, canWrite: write });
      if (port === undefined) {
        const over = Promise.withResolvers<void>();
        const stdio = serveStdio(serve, { onerror: ({ message }) => out.note(message) });
        for (const end of ["end", "close", "error"]) process.stdin.once(end, over.resolve);
        world.interrupted?.addEventListener("abort", () => over.reject(world.interrupted?.reason));
        try {
          await over.promise;
        } finally {
          await stdio.close();
        }
        return;
      }
      const handler = createMcpHandler(serve);
      const proxy = await startProxy(
        ({ method, path, headers, body }) =>
          handler.fetch(
            new Request(new URL(path, "http://127.0.0.1"), { method, headers, ...(body === "" ? {} : { body }) }),
          ),
        { port },
      );
      const { url, bearer } = proxy;
      out.result({ url, bearer }, () => `${url}\nauthorization: Bearer ${bearer}\nCtrl-C ends`);
      await once(process, "SIGTERM", { signal: world.interrupted }).finally(() => proxy.close());
    });
}

/** 9 MB that no other command needs: who uses this one installs them. */
async function protocol() {
  try {
    const [{ createMcpHandler }, { serveStdio }, { mcpServer }] = await Promise.all([
      import("@modelcontextprotocol/server"),
      import("@modelcontextprotocol/server/stdio"),
      import("../mcp.ts"),
    ]);
    return { createMcpHandler, serveStdio, mcpServer };
  } catch (error) {
    if (!(error instanceof Error && /^Cannot find (package|module) '@modelcontextprotocol\//.test(error.message)))
      throw error;
    const fix = "npm install -D @modelcontextprotocol/server@2";
    throw new CliError(exitCodes.failure, "no-protocol", `this command needs a package: ${fix}`);
  }
}

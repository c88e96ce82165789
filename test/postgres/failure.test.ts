import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { toStoreError } from "../../src/postgres/failure.ts";
import { UnknownOutcome } from "../../src/machine/transaction.ts";
import { freshFolder } from "../local/folder.ts";

/** What a write gets on a connection whose other end has gone: on a Unix socket it is never another error. */
async function brokenPipe(): Promise<Error> {
  const folder = freshFolder();
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.destroy());
  server.listen(join(folder, "s"));
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const client = connect({ path: join(folder, "s"), allowHalfOpen: true });
  const gone = once(client, "end");
  client.resume();
  await gone;
  const failed = once(client, "error");
  client.write("select 1");
  const [error] = (await failed) as [Error];
  return error;
}

test("a statement that is written to a connection whose other end has gone has no known outcome", async () => {
  const error = await brokenPipe();
  expect(error).toMatchObject({ code: "EPIPE" });
  expect(toStoreError(error, "statement settle")).toBeInstanceOf(UnknownOutcome);
});

test("a refusal of the server keeps its SQLSTATE, also one that an app made up of letters", () => {
  const raised = Object.assign(new Error("no seats"), { severity: "ERROR", code: "SEATS" });
  expect(toStoreError(raised, "statement settle")).toMatchObject({ name: "DatabaseError", code: "SEATS" });
});

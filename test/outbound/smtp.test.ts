import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { expect, test } from "vitest";
import { mailer } from "../../src/outside/smtp/mailer.ts";
import { AmbiguousError, PermanentError, RetryLater } from "../../src/define/errors.ts";
import { listening } from "../support/listening.ts";

const mail = {
  to: "ada@example.org",
  subject: "Hello",
  text: "Hello Ada",
  idempotencyKey: "7:mail",
  signal: new AbortController().signal,
};
/** Long ones: on a busy machine only what a test waits for may be over. */
const patient = { connectMs: 20_000, silenceMs: 20_000, totalMs: 40_000 };
type Times = Partial<typeof patient>;

async function open(options: SMTPServerOptions, times: Times = {}) {
  const server = new SMTPServer({ authOptional: true, disabledCommands: ["STARTTLS", "AUTH"], ...options });
  server.on("error", () => undefined);
  return sender(await listening(server.server), times);
}

function sender(port: number, times: Times = {}) {
  return mailer({ url: `smtp://127.0.0.1:${port}`, from: "belfry@example.org", ...patient, ...times });
}

test("a mail arrives with a Message-ID made from its idempotency key, the same in each try", async () => {
  const arrived: string[] = [];
  const made = await open({
    onData(stream, _, done) {
      let text = "";
      stream.setEncoding("utf8").on("data", (part: string) => (text += part));
      stream.on("end", () => (arrived.push(text), done()));
    },
  });
  const first = await made.send(mail);
  const second = await made.send(mail);
  expect(second.messageId).toBe(first.messageId);
  expect((await made.send({ ...mail, idempotencyKey: "8:mail" })).messageId).not.toBe(first.messageId);
  expect(arrived).toHaveLength(3);
  expect(arrived[0]).toContain(`Message-ID: ${first.messageId}`);
});

const refuse = (responseCode: number) => Object.assign(new Error("refused"), { responseCode });

test.each([
  [451, RetryLater],
  [552, PermanentError],
])("an answer %i to the mail decides whether another try makes sense", async (code, kind) => {
  const made = await open({
    onData(stream, _, done) {
      stream.resume().on("end", () => done(refuse(code)));
    },
  });
  const error: unknown = await made.send(mail).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(kind);
  expect(error).toMatchObject({ code: `SMTP_${code}` });
});

test("an unknown recipient is permanent", async () => {
  const made = await open({ onRcptTo: (_, __, done) => done(refuse(550)) });
  await expect(made.send(mail)).rejects.toMatchObject({ name: "PermanentError", code: "SMTP_550" });
});

test("a server that never greets is worth another try: no mail can have been taken", async () => {
  const port = await listening(createServer(() => undefined));
  await expect(sender(port, { connectMs: 300, silenceMs: 300 }).send(mail)).rejects.toBeInstanceOf(RetryLater);
});

test("a port without a listener is worth another try", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  await expect(sender(port).send(mail)).rejects.toBeInstanceOf(RetryLater);
});

test("a server that takes the mail and never answers leaves it ambiguous", async () => {
  const made = await open({ onData: (stream) => void stream.resume() }, { silenceMs: 2_000 });
  await expect(made.send(mail)).rejects.toBeInstanceOf(AmbiguousError);
});

test("a handler that has to stop does not wait for the server", async () => {
  const controller = new AbortController();
  const made = await open({
    onData(stream) {
      stream.resume();
      controller.abort(new Error("it has to stop"));
    },
  });
  await expect(made.send({ ...mail, signal: controller.signal })).rejects.toThrow("it has to stop");
});

/** A server that greets, says yes to everything up to the mail, and then what `afterMail` says. */
async function scripted(
  answers: { afterMail?: (socket: Socket) => void; afterRecipient?: (socket: Socket) => void },
  times: Times = {},
) {
  const server = createServer((socket) => {
    let isMail = false;
    socket.on("error", () => undefined);
    socket.write("220 ready\r\n");
    createInterface({ input: socket }).on("line", (line) => {
      if (isMail && line === ".") answers.afterMail?.(socket);
      else if (!isMail && line.startsWith("RCPT") && answers.afterRecipient) answers.afterRecipient(socket);
      else if (line === "DATA") {
        isMail = true;
        socket.write("354 go on\r\n");
      } else if (!isMail) socket.write("250 fine\r\n");
    });
  });
  return sender(await listening(server), times);
}

/** One byte of an answer that never ends, often enough to be no silence. */
function drip(socket: Socket): void {
  socket.write("2");
  const timer = setInterval(() => socket.write("5"), 50);
  socket.once("close", () => clearInterval(timer));
}

test("half an answer to the mail leaves it ambiguous", async () => {
  const made = await scripted({ afterMail: (socket) => void socket.end("25") });
  await expect(made.send(mail)).rejects.toMatchObject({ name: "AmbiguousError", code: "SMTP_NETWORK" });
});

test("a byte now and then is no silence, but the time for one mail ends it", async () => {
  const made = await scripted({ afterMail: drip }, { totalMs: 2_500 });
  await expect(made.send(mail)).rejects.toMatchObject({ name: "AmbiguousError", code: "SMTP_TIMEOUT" });
});

test("as long as the mail was not offered, no answer is worth another try", async () => {
  const silent = await scripted({ afterRecipient: () => undefined }, { silenceMs: 300 });
  await expect(silent.send(mail)).rejects.toMatchObject({ name: "RetryLater", code: "SMTP_TIMEOUT" });
  const dripping = await scripted({ afterRecipient: drip }, { totalMs: 1_000 });
  await expect(dripping.send(mail)).rejects.toMatchObject({ name: "RetryLater", code: "SMTP_TIMEOUT" });
});

test("a conversation that was given up has no hold on the next one", async () => {
  const open: Socket[] = [];
  const made = await scripted({ afterMail: (socket) => (open.push(socket), drip(socket)) }, { totalMs: 2_500 });
  const ended = await Promise.allSettled([made.send(mail), made.send(mail), made.send(mail)]);
  expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await Promise.all(open.map(async (socket) => socket.destroyed || (await once(socket, "close"))));
  expect(open).toHaveLength(3);
});

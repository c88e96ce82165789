import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { openLedger } from "../../fake/ledger.ts";
import { home, listen } from "../../fake/serve.ts";
import { type Treatment, treatmentByDomain } from "../input.ts";

/** One that treats every mail alike; without it the domain of the recipient decides. */
type Mode = Treatment | "busy" | "half an answer" | "a byte a second";

const name = "time-capsule-mail";
const ledger = openLedger(home(), name);
const scale = Number(process.env["BELFRY_TIME_SCALE"] ?? 1);
const mode = (process.env["TIME_CAPSULE_MAIL_MODE"] || null) as Mode | null;
const hangMs = 70_000 / scale;

interface Mail {
  readonly to: string;
  readonly messageId: string;
}

/** What the server says to a whole mail, and when. Its ledger has a line for each mail that it was given. */
const answers: Readonly<Record<Mode, (mail: Mail, socket: Socket) => void>> = {
  accepted: (mail, socket) => store(mail, socket, "stored"),
  "busy once": (mail, socket) =>
    ledger.count(mail.messageId, "busy") === 0
      ? refuse(mail, socket, "busy", "451 come back later")
      : store(mail, socket, "stored"),
  busy: (mail, socket) => refuse(mail, socket, "busy", "451 come back later"),
  rejected: (mail, socket) => refuse(mail, socket, "rejected", "550 no such mailbox"),
  late: (mail, socket) => later(() => store(mail, socket, "stored late")),
  hangs: (mail, socket) => {
    note(mail, "hung");
    later(() => socket.destroy());
  },
  "half an answer": (mail, socket) => {
    note(mail, "half answered");
    socket.end("25");
  },
  "a byte a second": (mail, socket) => {
    note(mail, "dripped");
    const timer = setInterval(() => socket.write("2"), 1_000 / scale);
    socket.once("close", () => clearInterval(timer));
  },
};

const note = ({ to, messageId }: Mail, outcome: string): void => ledger.append({ key: messageId, outcome, to });

function store(mail: Mail, socket: Socket, outcome: string): void {
  note(mail, outcome);
  if (socket.writable) socket.write("250 stored\r\n");
}

function refuse(mail: Mail, socket: Socket, outcome: string, answer: string): void {
  note(mail, outcome);
  socket.write(`${answer}\r\n`);
}

/** After 70 s, also when the client has long gone. */
function later(run: () => void): void {
  setTimeout(run, hangMs);
}

const server = createServer((socket) => {
  let to = "";
  let messageId = "";
  let isMail = false;
  socket.on("error", () => undefined);
  socket.write("220 the mail server of a test\r\n");
  createInterface({ input: socket }).on("line", (line) => {
    if (isMail && line === ".") {
      isMail = false;
      answers[mode ?? treatmentByDomain(to)]({ to, messageId }, socket);
    } else if (isMail) messageId = /^Message-ID: (.+)$/i.exec(line)?.[1] ?? messageId;
    else if (line === "DATA") {
      isMail = true;
      socket.write("354 go on\r\n");
    } else if (line === "QUIT") socket.end("221 good-bye\r\n");
    else {
      to = /^RCPT TO:<(.+)>/i.exec(line)?.[1] ?? to;
      socket.write("250 fine\r\n");
    }
  });
});
listen(name, server, (place) => ({ TIME_CAPSULE_SMTP_URL: `smtp://${place}` }));

import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { openLedger } from "../../fake/ledger.ts";
import { home, listen } from "../../fake/serve.ts";
import { type Treatment, treatmentByDomain } from "../input.ts";

/** One that treats every mail alike; without it the domain of the recipient decides. */
type Mode = Treatment | "busy" | "half an answer" | "a byte a second";
type Mail = Readonly<{ to: string; messageId: string; socket: Socket }>;

const name = "time-capsule-mail";
const ledger = openLedger(home(), name);
const scale = Number(process.env["BELFRY_TIME_SCALE"] ?? 1);
const mode = (process.env["TIME_CAPSULE_MAIL_MODE"] || null) as Mode | null;
const hangMs = 70_000 / scale;

/** What the server says to a whole mail, and when. Its ledger has a line for each mail that it was given. */
const answers: Readonly<Record<Mode, (mail: Mail) => void>> = {
  accepted: (mail) => say(mail, "stored", "250 stored\r\n"),
  "busy once": (mail) => answers[ledger.count(mail.messageId, "busy") === 0 ? "busy" : "accepted"](mail),
  busy: (mail) => say(mail, "busy", "451 come back later\r\n"),
  rejected: (mail) => say(mail, "rejected", "550 no such mailbox\r\n"),
  // Also when the client has long gone.
  late: (mail) => void setTimeout(say, hangMs, mail, "stored late", "250 stored\r\n"),
  hangs(mail) {
    say(mail, "hung", "");
    setTimeout(() => mail.socket.destroy(), hangMs);
  },
  "half an answer"(mail) {
    say(mail, "half answered", "25");
    mail.socket.end();
  },
  "a byte a second"(mail) {
    say(mail, "dripped", "2");
    const timer = setInterval(() => mail.socket.write("2"), 1_000 / scale);
    mail.socket.once("close", () => clearInterval(timer));
  },
};

function say({ to, messageId, socket }: Mail, outcome: string, answer: string): void {
  ledger.append({ key: messageId, outcome, to });
  if (socket.writable) socket.write(answer);
}

const server = createServer((socket) => {
  const mail = { to: "", messageId: "", socket };
  let isMail = false;
  let text = "";
  socket.on("error", () => undefined);
  socket.write("220 the mail server of a test\r\n");
  createInterface({ input: socket }).on("line", (line) => {
    if (isMail && line === ".") {
      isMail = false;
      mail.messageId = /^Message-ID: (.+)$/im.exec(text)?.[1] ?? "";
      ledger.keep(mail.messageId, "eml", text);
      answers[mode ?? treatmentByDomain(mail.to)](mail);
    } else if (isMail) text += `${line.replace(/^\./, "")}\n`;
    else if (line === "QUIT") socket.end("221 good-bye\r\n");
    else {
      [isMail, text] = [line === "DATA", ""];
      mail.to = /^RCPT TO:<(.+)>/i.exec(line)?.[1] ?? mail.to;
      socket.write(isMail ? "354 go on\r\n" : "250 fine\r\n");
    }
  });
});
listen(name, server, (place) => ({ TIME_CAPSULE_SMTP_URL: `smtp://${place}` }));

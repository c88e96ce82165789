import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import MailComposer from "nodemailer/lib/mail-composer";
import { parseConnectionUrl } from "nodemailer/lib/shared";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { AmbiguousError, PermanentError, RetryLater } from "../../define/errors.ts";
import { type FromEnvironment, outsideAddress } from "../outside-address.ts";

export interface MailerOptions {
  /** `smtp://user:password@host:587` or `smtps://host:465`. Port 25 is closed on AWS. `{ env: "SMTP_URL" }` is read at each mail. */
  readonly url: string | FromEnvironment;
  readonly from: string;
  /** Milliseconds for the look-up of the name, for the connection, and then for the server's greeting: each. */
  readonly connectMs?: number;
  /** Milliseconds of silence that end a conversation. */
  readonly silenceMs?: number;
  /** Milliseconds for one mail altogether. A server that answers a byte a second is cut off here. */
  readonly totalMs?: number;
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** Becomes the Message-ID, so that a repeat is recognized: pass `ctx.effectKey("mail")`. */
  readonly idempotencyKey: string;
  /** The handler's: `ctx.signal`. */
  readonly signal: AbortSignal;
}

export interface Mailer {
  /**
   * Resolves when the server accepted the mail. One connection for each mail, so that a bad conversation cannot affect the
   * next mail.
   * @throws PermanentError on a 5xx answer; RetryLater on a 4xx answer, or when the mail was not offered yet.
   * @throws AmbiguousError when the mail was offered and no whole answer arrived.
   * @throws the signal's reason when the handler must stop.
   */
  send(mail: Mail): Promise<{ messageId: string; answer: string }>;
}

const defaults = { connectMs: 5_000, silenceMs: 10_000, totalMs: 20_000 };

export function mailer(options: MailerOptions): Mailer {
  const settings = { ...defaults, ...options };
  return {
    async send({ signal, idempotencyKey, ...content }) {
      signal.throwIfAborted();
      const { auth, ...server } = parseConnectionUrl(outsideAddress(settings.url));
      const messageId = messageIdOf(idempotencyKey);
      const composed = new MailComposer({ ...content, from: settings.from, messageId }).compile();
      const talk = new Conversation({ ...server, ...timeoutsOf(settings) });
      const over = AbortSignal.any([signal, AbortSignal.timeout(settings.totalMs)]);
      try {
        const sending = talk.send(auth, composed.getEnvelope(), await composed.build());
        return { messageId, answer: await endedBy(over, sending, settings.totalMs) };
      } catch (error) {
        throw signal.aborted ? signal.reason : converted(error, talk.wasOffered);
      } finally {
        talk.end(settings.silenceMs);
      }
    },
  };
}

const messageIdOf = (key: string): string => `<${createHash("sha256").update(key).digest("hex").slice(0, 40)}@belfry>`;

const timeoutsOf = ({ connectMs, silenceMs }: Required<MailerOptions>): SMTPConnection.Options => ({
  connectionTimeout: connectMs,
  greetingTimeout: connectMs,
  dnsTimeout: connectMs,
  socketTimeout: silenceMs,
});

/** One connection and one mail. */
class Conversation {
  /** The server has asked for the text: from now on it may have accepted the mail. */
  wasOffered = false;
  readonly #connection: SMTPConnection;
  #isDone = false;

  constructor(options: SMTPConnection.Options) {
    this.#connection = new SMTPConnection(options);
  }

  /** @returns the server's answer to the mail. */
  async send(auth: SMTPConnection.AuthenticationType | undefined, to: Envelope, text: Buffer): Promise<string> {
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => {});
    this.#connection.on("error", (error) => broken.reject(error));
    const answered = <T>(ask: (done: (error: unknown, value?: T) => void) => void): Promise<T> =>
      Promise.race([broken.promise, new Promise<T>((resolve, reject) => ask(settle(resolve, reject)))]);
    await answered((done) => this.#connection.connect(done));
    if (auth !== undefined) await answered((done) => this.#connection.login(auth as Login, done));
    const info = await answered<SMTPConnection.SentMessageInfo>((done) =>
      this.#connection.send(envelopeOf(to), this.#offer(text), done),
    );
    this.#isDone = true;
    return info.response;
  }

  /** Ends the conversation after a mail, with a bound for the server's answer. */
  end(waitMs: number): void {
    if (!this.#isDone) return this.#connection.close();
    this.#connection.quit();
    setTimeout(() => this.#connection.close(), waitMs).unref();
  }

  #offer(text: Buffer): Readable {
    const offered = (): void => void (this.wasOffered = true);
    return new Readable({
      read() {
        offered();
        this.push(text);
        this.push(null);
      },
    });
  }
}

type Login = Parameters<SMTPConnection["login"]>[0];
type Envelope = ReturnType<ReturnType<MailComposer["compile"]>["getEnvelope"]>;

const envelopeOf = ({ from, to }: Envelope): SMTPConnection.Envelope => ({ from: from || false, to });

const settle =
  <T>(resolve: (value: T) => void, reject: (error: unknown) => void) =>
  (error: unknown, value?: T): void =>
    error === null || error === undefined ? resolve(value as T) : reject(error);

/** @throws TimedOut when the signal aborts first; the caller knows whether it was the handler's own. */
async function endedBy(over: AbortSignal, sending: Promise<string>, totalMs: number): Promise<string> {
  const late = Promise.withResolvers<never>();
  const giveUp = (): void => late.reject(new TimedOut(`no answer of the mail server within ${totalMs} ms`));
  over.addEventListener("abort", giveUp, { once: true });
  if (over.aborted) giveUp();
  try {
    return await Promise.race([sending, late.promise]);
  } finally {
    over.removeEventListener("abort", giveUp);
    // The caller no longer waits, so a late failure has no other handler.
    sending.catch(() => {});
  }
}

class TimedOut extends Error {
  override readonly name = "TimedOut";
}

function converted(error: unknown, wasOffered: boolean): unknown {
  if (!(error instanceof Error)) return error;
  const { responseCode, code } = error as SMTPConnection.SMTPError;
  if (responseCode !== undefined) {
    const answered = { code: `SMTP_${responseCode}`, cause: error };
    return responseCode >= 500 ? new PermanentError(error.message, answered) : new RetryLater(error.message, answered);
  }
  if (code === "EAUTH" || code === "EENVELOPE") {
    return new PermanentError(error.message, { code: `SMTP_${code}`, cause: error });
  }
  const isLate = error instanceof TimedOut || code === "ETIMEDOUT";
  const named = { code: isLate ? "SMTP_TIMEOUT" : "SMTP_NETWORK", cause: error };
  return wasOffered ? new AmbiguousError(error.message, named) : new RetryLater(error.message, named);
}

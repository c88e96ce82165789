import { createHash } from "node:crypto";
import { createTransport } from "nodemailer";
import { AmbiguousError, PermanentError, RetryLater } from "../../core/definitions/errors.ts";

export interface MailerOptions {
  /** `smtp://user:password@host:587` or `smtps://host:465`. Port 25 is closed on AWS. */
  readonly url: string;
  readonly from: string;
  /** Milliseconds for the connection, and then for the server's greeting. */
  readonly connectMs?: number;
  /** Milliseconds of silence that end a conversation. */
  readonly silenceMs?: number;
  /** Milliseconds for one mail altogether. A server that answers a byte a second is cut off here. */
  readonly totalMs?: number;
  /** Connections at most; they are kept open between mails. */
  readonly connections?: number;
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
   * Resolves when the server took the mail.
   * @throws PermanentError on a 5xx answer, RetryLater on a 4xx answer or without a connection.
   * @throws AmbiguousError when the mail may have been taken and the answer did not arrive.
   */
  send(mail: Mail): Promise<{ messageId: string; answer: string }>;
  close(): void;
}

const defaults = { connectMs: 5_000, silenceMs: 10_000, totalMs: 20_000, connections: 5 };

export function mailer(options: MailerOptions): Mailer {
  const settings = { ...defaults, ...options };
  const transport = createTransport({
    url: settings.url,
    pool: true,
    maxConnections: settings.connections,
    connectionTimeout: settings.connectMs,
    greetingTimeout: settings.connectMs,
    dnsTimeout: settings.connectMs,
    socketTimeout: settings.silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ signal, idempotencyKey, ...content }) {
      signal.throwIfAborted();
      const messageId = `<${createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 40)}@belfry>`;
      const sending = transport.sendMail({ ...content, from: settings.from, messageId });
      // Whoever gave up waiting still owns the promise's failure.
      sending.catch(() => undefined);
      try {
        const { response } = await Promise.race([sending, refusal(signal, settings.totalMs)]);
        return { messageId, answer: response };
      } catch (error) {
        throw signal.aborted ? signal.reason : converted(error);
      }
    },
    close: () => transport.close(),
  };
}

/** nodemailer takes no signal: waiting ends, and its own socket timeout ends the conversation. */
async function refusal(signal: AbortSignal, totalMs: number): Promise<never> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(totalMs)]);
  return await new Promise((_, reject) => {
    const rejectNow = (): void =>
      reject(new AmbiguousError(`no answer of the mail server within ${totalMs} ms`, { code: "SMTP_TIMEOUT" }));
    if (ended.aborted) rejectNow();
    ended.addEventListener("abort", rejectNow, { once: true });
  });
}

interface SmtpError extends Error {
  readonly responseCode?: number;
  readonly code?: string;
  readonly syscall?: string;
  readonly timeoutType?: string;
}

function converted(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AmbiguousError) return error;
  const { responseCode, code } = error as SmtpError;
  if (responseCode !== undefined) {
    const answered = { code: `SMTP_${responseCode}`, cause: error };
    return responseCode >= 500 ? new PermanentError(error.message, answered) : new RetryLater(error.message, answered);
  }
  if (code === "EAUTH" || code === "EENVELOPE") {
    return new PermanentError(error.message, { code: `SMTP_${code}`, cause: error });
  }
  const named = { code: "SMTP_NETWORK", cause: error };
  return neverBegan(error) ? new RetryLater(error.message, named) : new AmbiguousError(error.message, named);
}

/** No mail was offered yet. A connection that breaks later may have taken one: nodemailer does not say how far it came. */
function neverBegan({ code, syscall, timeoutType }: SmtpError): boolean {
  return code === "EDNS" || syscall === "connect" || /^(CONNECT|GREETING|UPGRADE)_TIMEOUT$/.test(timeoutType ?? "");
}

import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What the proxy does with a request: hands it on, signs the browser in, or refuses it. */
export type Verdict =
  | { readonly kind: "pass" }
  | { readonly kind: "sign-in"; readonly location: string; readonly cookie: string }
  | { readonly kind: "refuse"; readonly status: 401 | 403; readonly code: string; readonly detail: string };

/** An open page asks every few seconds, so it is idle when it is closed. */
const idleMinutesMax = 60;
const sessionHoursMax = 12;

export interface GateOptions {
  readonly port: number;
  readonly readOnly: boolean;
  /** Every program of this machine may ask: only for a test that stands between programs of its own. */
  readonly isOpen: boolean;
  readonly nowMs: () => number;
}

export interface Gate {
  /** Goes into the printed address, and works once. */
  readonly token: string;
  /** For programs: `authorization: Bearer ...`. */
  readonly bearer: string;
  judge(request: { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders }): Verdict;
}

/**
 * The proxy acts with the operator's rights, so a request has to come from the browser or program that the operator gave the
 * printed address: not from another user of this machine, another site's page, or a page of another port.
 */
export function createGate({ port, readOnly, isOpen, nowMs }: GateOptions): Gate {
  const token = randomBytes(24).toString("base64url");
  const session = randomBytes(24).toString("base64url");
  const cookie = `belfry-${port}`;
  let isUsed = false;
  const beganAtMs = nowMs();
  let askedAtMs = beganAtMs;
  const hasEnded = (): boolean =>
    nowMs() - askedAtMs > idleMinutesMax * 60_000 || nowMs() - beganAtMs > sessionHoursMax * 3_600_000;
  return {
    token,
    bearer: session,
    judge({ method, path, headers }) {
      const foreign = foreignPart(headers, method, port);
      if (foreign !== null)
        return refuse(403, "foreign-origin", `${foreign}: only a page of this address, or a program, may ask`);
      const asked = new URL(path, `http://127.0.0.1:${port}`);
      const given = asked.searchParams.get("token");
      if (!isOpen && hasEnded()) {
        return refuse(
          401,
          "session-ended",
          "the session has ended, after an hour without a request or twelve in all: start the command again",
        );
      }
      if (given !== null && method === "GET" && !isUsed && isSame(given, token)) {
        isUsed = true;
        askedAtMs = nowMs();
        asked.searchParams.delete("token");
        return {
          kind: "sign-in",
          location: `${asked.pathname}${asked.search}`,
          cookie: `${cookie}=${session}; Path=/; HttpOnly; SameSite=Strict`,
        };
      }
      if (!isOpen && !isSame(sessionOf(headers, cookie), session)) {
        return refuse(
          401,
          "no-session",
          "open the address that the command printed, which works once, in one browser; a program sends the header `authorization` that it printed",
        );
      }
      askedAtMs = nowMs();
      if (readOnly && method !== "GET" && method !== "HEAD") {
        return refuse(403, "read-only", "this console was started with --read-only");
      }
      return { kind: "pass" };
    },
  };
}

const refuse = (status: 401 | 403, code: string, detail: string): Verdict => ({ kind: "refuse", status, code, detail });

/** The header that names another host or origin; null for a request of this very server's page, or of no page. */
function foreignPart(headers: IncomingHttpHeaders, method: string, port: number): string | null {
  const { host = "", origin } = headers;
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return "header host";
  if (origin !== undefined && origin !== `http://${host}`) return "header origin";
  const site = headers["sec-fetch-site"] ?? "none";
  // The printed address may be opened from a terminal or a chat; what it opens cannot be framed.
  const opensPage =
    method === "GET" && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  return site === "same-origin" || site === "none" || opensPage ? null : "header sec-fetch-site";
}

function sessionOf({ authorization = "", cookie = "" }: IncomingHttpHeaders, name: string): string {
  const bearer = /^Bearer (\S+)$/i.exec(authorization)?.[1];
  const pairs = cookie.split(";").map((pair) => pair.trim().split("="));
  return bearer ?? pairs.find(([each]) => each === name)?.[1] ?? "";
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

import { mailer } from "belfry/smtp";
import { z } from "zod";
import { agoText } from "./capsule.ts";

/** What a mail about an opened capsule is made of; times in ISO 8601. */
export const openedMail = z.object({
  to: z.email(),
  userName: z.string(),
  capsuleId: z.string(),
  title: z.string(),
  closedAt: z.iso.datetime(),
  openedAt: z.iso.datetime(),
});

/** The mail, as HTML and as text: what a person wrote is escaped. */
export function written({ to, capsuleId, closedAt, openedAt, ...by }: z.output<typeof openedMail>) {
  const viewUrl = `${process.env["TIME_CAPSULE_BASE_URL"] || "https://time-capsule.example"}/timecapsule/${capsuleId}`;
  const [timeAgoText, from, until] = [agoText(closedAt, openedAt), date(closedAt), date(openedAt)];
  const [userName, title] = [escaped(by.userName), escaped(by.title)];
  const text = `Dear ${by.userName},\n\nyou closed "${by.title}" ${timeAgoText}, on ${from}.\nSince ${until} it can be read: ${viewUrl}\n`;
  const page = `<!doctype html><html lang="en"><body style="font-family: sans-serif; max-width: 32em">
<h1>A time capsule is open</h1>
<p>Dear ${userName}, you closed <b>${title}</b> ${timeAgoText}.</p>
<table><tr><th>closed</th><td>${from}</td></tr><tr><th>opened</th><td>${until}</td></tr></table>
<p><a href="${viewUrl}">Read it</a></p></body></html>`;
  return { to, subject: `[Time capsule] "${by.title}" is open`, text, html: page };
}

const date = (instant: string): string => `${instant.slice(0, 16).replace("T", " ")} UTC`;
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** The mail server, with every wait shorter than a try. Its address has the password, and so is a secret. */
const limits = { connectMs: 5_000, silenceMs: 10_000, totalMs: 20_000 };
export const sender = (url: string) => mailer({ url, from: "no-reply@capsule.example", ...limits });

export { mailer } from "./mailer.ts";
export type { Mail, Mailer, MailerOptions } from "./mailer.ts";
export type { FromEnvironment } from "../outside-address.ts";

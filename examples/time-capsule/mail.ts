import { type Mailer, mailer } from "belfry/smtp";

let made: Mailer | null = null;

/** The mail server, with every wait shorter than a try. Made when a handler first asks. */
export function sender(): Mailer {
  made ??= mailer({
    url: url(),
    from: "capsules@time-capsule.example",
    connectMs: 5_000,
    silenceMs: 10_000,
    totalMs: 20_000,
  });
  return made;
}

function url(): string {
  const given = process.env["TIME_CAPSULE_SMTP_URL"] || process.env["SMTP_URL"];
  if (!given)
    throw new Error(
      "neither TIME_CAPSULE_SMTP_URL nor SMTP_URL is set: name the mail server, for example smtp://host:587",
    );
  return given;
}

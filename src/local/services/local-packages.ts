/** What `belfry-local` installs. In the package of `belfry` this file is that package's. */
import { createRequire } from "node:module";

export { default as dynalite } from "dynalite";
export { buildApp } from "fauxqs";
export { SMTPServer } from "smtp-server";

/** What fauxqs does not export, of its exact version. */
export const { SqsQueue } = (await import(new URL("./sqs/sqsStore.js", import.meta.resolve("fauxqs")).href)) as {
  SqsQueue: { prototype: { pollTimer?: NodeJS.Timeout; processTimers(): void; startPollTimerIfNeeded(): void } };
};

/** The path of a package that only belfry-local depends on. @throws Error where it is not installed. */
export const resolveLocal = (name: string): string => createRequire(import.meta.url).resolve(name);

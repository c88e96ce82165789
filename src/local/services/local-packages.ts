/** What `belfry-local` installs. In the package of `belfry` this file is that package's. */
import { createRequire, findPackageJSON } from "node:module";
import { pathToFileURL } from "node:url";

export { default as dynalite } from "dynalite";
export { buildApp } from "fauxqs";
export { SMTPServer } from "smtp-server";

/** A queue of fauxqs in its exact version, which does not export it; null where the package manager hides its files. */
export interface PolledQueue {
  pollTimer?: NodeJS.Timeout;
  processTimers(): void;
  startPollTimerIfNeeded(): void;
}
export const polledQueue = await hiddenQueue().catch(() => null);

async function hiddenQueue(): Promise<PolledQueue> {
  const fauxqs = pathToFileURL(findPackageJSON("fauxqs", import.meta.url) ?? "");
  const { SqsQueue } = await import(new URL("./dist/sqs/sqsStore.js", fauxqs).href);
  return SqsQueue.prototype;
}

/** The path of a package that only belfry-local depends on. @throws Error where it is not installed. */
export const resolveLocal = (name: string): string => createRequire(import.meta.url).resolve(name);

import { randomBytes } from "node:crypto";
import { openSeals } from "../aws/seals.ts";
import type { Registry } from "../define/definition.ts";
import type { Json } from "../machine/job.ts";
import { openValue, type Seals } from "../machine/seal.ts";
import { createClock } from "../outside/clock.ts";

/** For every name a key that no other system has: a test needs none of its own. */
export function ownSeals(): Seals {
  const keys = { "*": `local:${randomBytes(32).toString("base64")}` };
  return openSeals({ keys, region: "us-east-1", kmsEndpoint: null, isDualStack: false }, createClock());
}

/** A stored value of a kind as its handler gets or returned it. */
export type OpenedBy = (kind: string, value: Json) => Promise<Json>;

export const openedBy =
  (seals: Seals | undefined, { jobs }: Registry): OpenedBy =>
  async (kind, value) => {
    const seal = jobs.get(kind)?.seal ?? null;
    return seal === null ? value : await openValue(seals, seal, value);
  };

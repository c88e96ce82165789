import { use, usdOf } from "../../src/insight/prices.ts";

/**
 * Of a million jobs with payloads of 40 bytes that came one at a time, so with three events each; the first try of each succeeded.
 * Objects at most: 2,000 of jobs, as half of one is written at once, and 3,000 of events. `test/bench/archive.long.test.ts` measures both.
 */
export const archived = { objects: 5_000, bytesAJob: 113 } as const;

const gb = (archived.bytesAJob * 1_000_000) / 1_000_000_000;

export const archiveCosts = (): readonly (readonly [what: string, usd: number])[] => [
  ["written", usdOf([use("S3, writes", archived.objects / 1_000, "writes")])],
  ["kept for a month", usdOf([use("S3 Standard", gb, "storage")])],
  ["kept for ten years", usdOf([use("S3 Standard", 120 * gb, "storage")])],
];

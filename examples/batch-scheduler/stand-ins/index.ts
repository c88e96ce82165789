import type { StandIn } from "../../stand-in.ts";

/** What this example's targets are; see `examples/stand-in.ts` for how they are started. */
export const standIns: readonly StandIn[] = [
  { name: "batch-scheduler-seed", file: new URL("../seed.ts", import.meta.url), env: {}, once: true },
  {
    name: "batch-scheduler-publisher",
    file: new URL("publisher.ts", import.meta.url),
    env: {},
    once: false,
    address: { variable: "ORDERS_QUEUE_ENDPOINT", scheme: "http" },
  },
  {
    name: "batch-scheduler-files",
    file: new URL("files.ts", import.meta.url),
    env: {},
    once: false,
    address: { variable: "FILES_URL", scheme: "http" },
  },
];

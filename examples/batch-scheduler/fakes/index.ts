import type { Fake } from "../../fake.ts";

/** What this example's targets are; see `examples/fake.ts` for how they are started. */
export const fakes: readonly Fake[] = [
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

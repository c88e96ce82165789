import type { Fake } from "../../fake.ts";

/** What this example's targets are; see `examples/fake.ts` for how they are started. */
export const fakes: readonly Fake[] = [
  {
    name: "taskflow-publisher",
    file: new URL("publisher.ts", import.meta.url),
    env: {},
    once: false,
    address: { variable: "TASKFLOW_PUBLISHER_URL", scheme: "http" },
  },
];

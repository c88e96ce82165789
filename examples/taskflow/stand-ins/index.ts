import type { StandIn } from "../../stand-in.ts";

/** What this example's targets are; see `examples/stand-in.ts` for how they are started. */
export const standIns: readonly StandIn[] = [
  {
    name: "taskflow-publisher",
    file: new URL("publisher.ts", import.meta.url),
    env: {},
    once: false,
    address: { variable: "TASKFLOW_PUBLISHER_URL", scheme: "http" },
  },
];

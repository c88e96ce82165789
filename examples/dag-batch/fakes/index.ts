import type { Fake } from "../../fake.ts";

/** What lies outside of this example; see `examples/fake.ts` for how it is started. */
export const fakes: readonly Fake[] = [
  { name: "dag-batch-seed", file: new URL("../seed.ts", import.meta.url), env: {}, once: true },
  {
    name: "dag-batch-services",
    file: new URL("services.ts", import.meta.url),
    env: {},
    once: false,
    address: { variable: "DAG_SERVICES_URL", scheme: "http" },
  },
];

import type { Fake } from "../../fake.ts";

/** What this example's targets are; see `examples/fake.ts` for how they are started. */
export const fakes: readonly Fake[] = [
  { name: "time-capsule-seed", file: new URL("../seed.ts", import.meta.url), env: {}, once: true },
  {
    name: "time-capsule-mail",
    file: new URL("mail-server.ts", import.meta.url),
    env: {},
    once: false,
    address: { variable: "TIME_CAPSULE_SMTP_URL", scheme: "smtp" },
  },
];

import type { StandIn } from "../../stand-in.ts";

/** What this example's targets are; see `examples/stand-in.ts` for how they are started. */
export const standIns: readonly StandIn[] = [
  { name: "time-capsule-seed", file: new URL("../seed.ts", import.meta.url), env: {}, once: true },
  {
    name: "time-capsule-mail",
    file: new URL("mail-server.ts", import.meta.url),
    env: {},
    once: false,
    address: { variable: "TIME_CAPSULE_SMTP_URL", scheme: "smtp" },
  },
];

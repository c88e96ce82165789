import type { Fake } from "../../fake.ts";

/** What lies outside of this example; see `examples/fakes.ts` for how it is started. */
export const fakes: readonly Fake[] = [
  { name: "daily-quiz-seed", file: new URL("../seed.ts", import.meta.url), env: {}, once: true },
  {
    name: "daily-quiz-push",
    file: new URL("push-service.ts", import.meta.url),
    env: {},
    once: false,
    address: { variable: "QUIZ_PUSH_URL", scheme: "http" },
  },
  { name: "daily-quiz-people", file: new URL("people.ts", import.meta.url), env: {}, once: false },
];

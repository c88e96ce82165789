import type { Fake, FakeAddress } from "./fake.ts";

const seed = (example: string): Fake => ({
  name: `${example}-seed`,
  file: new URL(`${example}/seed.ts`, import.meta.url),
  once: true,
});

const target = (name: string, file: string, variable: string, scheme: FakeAddress["scheme"] = "http"): Fake => ({
  name,
  file: new URL(file, import.meta.url),
  once: false,
  address: { variable, scheme },
});

/** The outside targets of all examples, and their seeds; `fake.ts` says how they are started. */
export const fakes: readonly Fake[] = [
  seed("batch-scheduler"),
  target("batch-scheduler-publisher", "batch-scheduler/fakes/publisher.ts", "ORDERS_QUEUE_URL"),
  target("batch-scheduler-files", "batch-scheduler/fakes/files.ts", "FILES_URL"),
  seed("daily-quiz"),
  target("daily-quiz-push", "daily-quiz/fakes/push-service.ts", "QUIZ_PUSH_URL"),
  // Nothing calls them: they only look on.
  { name: "daily-quiz-people", file: new URL("daily-quiz/fakes/people.ts", import.meta.url), once: false },
  seed("dag-batch"),
  target("dag-batch-services", "dag-batch/fakes/services.ts", "DAG_SERVICES_URL"),
  target("taskflow-publisher", "taskflow/fakes/publisher.ts", "TASKFLOW_PUBLISHER_URL"),
  seed("time-capsule"),
  target("time-capsule-mail", "time-capsule/fakes/mail-server.ts", "TIME_CAPSULE_SMTP_URL", "smtp"),
];

export const fakesOf = (example: string): readonly Fake[] => fakes.filter(({ name }) => name.startsWith(`${example}-`));

import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";

const send = defineJob({
  id: "send",
  lane: "mail",
  environment: ["MAIL_FROM"],
  secrets: ["STRIPE_KEY"],
  run: (_, ctx) => void ctx.secret("STRIPE_KEY"),
});

/** A job that reads a variable and a secret. */
export default [defineApp({ name: "mail", lanes: { mail: {} }, jobs: [send] })];

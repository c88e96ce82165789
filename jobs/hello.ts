import { defineApp, defineJob, defineSchedule } from "belfry";

/** Change the greeting, save, and watch the next minute. */
const hello = defineJob({
  id: "hello",
  run(_, ctx) {
    ctx.log.info("Hello from Belfry!", { scheduledFor: ctx.scheduledFor });
  },
});

const everyMinute = defineSchedule({ id: "hello-every-minute", cron: "* * * * *", timezone: "UTC", run: hello });

export default defineApp({ name: "hello", schedules: [everyMinute] });

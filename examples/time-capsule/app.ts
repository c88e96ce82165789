import { defineApp, defineJob, defineSchedule, defineSweep, sql } from "belfry";
import { z } from "zod";
import { closeCapsule, openCapsule } from "./capsule.ts";
import { recordTry } from "./mail-log.ts";
import { openedMail, sender, written } from "./mail.ts";
import { routes } from "./routes.ts";

/** One mail, in a lane of its own: a mail server that hangs delays other mails, and no opening. */
const sendMail = defineJob({
  id: "send-open-mail",
  lane: "mail",
  secrets: ["TIME_CAPSULE_SMTP_URL"],
  timeout: "60s",
  concurrency: 10,
  retry: { maxAttempts: 3, base: "1s" },
  payload: openedMail,
  onSettled: ({ to }, settled, tx) => recordTry(tx, to, settled),
  async run(mail, ctx) {
    const call = { idempotencyKey: ctx.effectKey("mail"), signal: ctx.signal };
    const { messageId } = await sender(ctx.secret("TIME_CAPSULE_SMTP_URL")).send({ ...written(mail), ...call });
    return { messageId };
  },
});

/** One short transaction opens the capsule, notifies each member and enqueues the mails. Nothing outside is called. */
const open = defineJob({
  id: "open-capsule",
  lane: "openings",
  timeout: "30s",
  retry: { maxAttempts: 4, base: "1s" },
  payload: z.object({ capsuleId: z.string() }),
  run: ({ capsuleId }, ctx) =>
    ctx.tx(async (tx) => {
      const { notified = [], ...about } = (await openCapsule(tx, capsuleId)) ?? {};
      for (const { userId, name, email } of notified.filter(({ wantsEmail }) => wantsEmail)) {
        const mail = { to: email, userName: name, capsuleId, ...about };
        await ctx.enqueue(sendMail, mail, { key: `${capsuleId}:${userId}`, tx });
      }
      return { notified: notified.length };
    }),
});

const openDue = defineSweep({
  id: "open-due-capsules",
  maxLateness: "60s", // a sweep that starts later raises an alarm
  due: ({ scheduledFor }) => sql<{ id: string }>`
    select id from time_capsule.capsule where opens_at <= ${scheduledFor} and opened_at is null`,
  key: ({ id }) => id,
  each: open,
  payload: ({ id }) => ({ capsuleId: id }),
});

const everyMinute = defineSchedule({
  id: "open-due-every-minute",
  cron: "* * * * *",
  timezone: "UTC",
  run: openDue,
  overlap: "allow", // a slow minute never skips the next one
  misfire: "latest",
});

const often = { every: { examples: "1m" }, misfire: "skip", enabled: { examples: true } } as const;

/** Only in the examples: a new capsule a minute, which opens two minutes later. */
const closeOne = defineJob({
  id: "close-capsules",
  run: (_, ctx) =>
    ctx.tx(async (tx) => {
      const minute = ctx.scheduledFor.getTime() / 60_000;
      const letter = { title: `Letter ${minute}`, content: "Hello from then." };
      const opensAt = new Date((minute + 2) * 60_000);
      await closeCapsule(tx, { user: String((minute % 60) + 1), ...letter, opensAt });
    }),
});

export default defineApp({
  name: "time-capsule",
  jobs: [open, sendMail],
  schedules: [everyMinute, defineSchedule({ id: "close-capsules", run: closeOne, ...often })],
  lanes: { openings: {}, mail: {} },
  migrations: new URL("./migrations/", import.meta.url),
  routes,
});

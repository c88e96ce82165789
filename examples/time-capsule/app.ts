import { defineApp, defineJob, defineSchedule, defineSweep, sql } from "belfry";
import { z } from "zod";
import { closeCapsule, openCapsule } from "./capsule.ts";
import { recordTry } from "./mail-log.ts";
import { openedMail, sender, written } from "./mail.ts";
import { routes, wake } from "./routes.ts";

/** Notifies the user's open pages of news. They read the news from the table, so a lost notification loses nothing. */
const pushLive = defineJob({
  id: "push-live",
  lane: "openings",
  timeout: "5s",
  retry: { maxAttempts: 2, base: "1s" },
  payload: z.object({ userId: z.string() }),
  run: ({ userId }, ctx) => ctx.tx((tx) => wake(tx, userId)),
});

/** A mail in a lane of its own: a server that hangs holds up other mails at most. */
const sendMail = defineJob({
  id: "send-open-mail",
  lane: "mail",
  timeout: "60s",
  concurrency: 10,
  retry: { maxAttempts: 3, base: "1s" },
  payload: openedMail,
  onSettled: ({ to }, settled, tx) => recordTry(tx, to, settled),
  async run(mail, ctx) {
    const outgoing = { ...written(mail), idempotencyKey: ctx.effectKey("mail"), signal: ctx.signal };
    const { messageId } = await sender().send(outgoing);
    return { messageId };
  },
});

/** One short transaction: opened, one notification a member, and what follows as jobs of their own. Nothing outside is called. */
const open = defineJob({
  id: "open-capsule",
  lane: "openings",
  timeout: "30s",
  retry: { maxAttempts: 4, base: "1s" },
  payload: z.object({ capsuleId: z.string() }),
  run: ({ capsuleId }, ctx) =>
    ctx.tx(async (tx) => {
      const opened = await openCapsule(tx, capsuleId);
      if (opened === null) return { notified: 0 };
      const { notified, ...about } = opened;
      for (const { userId, name, email, wantsEmail } of notified) {
        const key = `${capsuleId}:${userId}`;
        await ctx.enqueue(pushLive, { userId }, { key, tx });
        if (wantsEmail) await ctx.enqueue(sendMail, { to: email, userName: name, capsuleId, ...about }, { key, tx });
      }
      return { notified: notified.length };
    }),
});

const openDue = defineSweep({
  id: "open-due-capsules",
  maxLateness: "60s",
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
  overlap: "allow",
  misfire: "latest",
});

/** Two capsules a minute, which open two minutes later. */
const closeSome = defineSchedule({
  id: "close-capsules",
  every: { examples: "1m" },
  run: defineJob({
    id: "close-capsules",
    run: (_, ctx) =>
      ctx.tx(async (tx) => {
        const minute = ctx.scheduledFor.getTime() / 60_000;
        const opensAt = new Date((minute + 2) * 60_000);
        for (const user of [(minute % 60) + 1, ((minute * 7) % 60) + 1])
          await closeCapsule(tx, {
            user: String(user),
            title: `Letter ${minute}`,
            content: "Hello from then.",
            opensAt,
          });
      }),
  }),
  misfire: "skip",
  enabled: { examples: true },
});

export default defineApp({
  name: "time-capsule",
  jobs: [open, sendMail, pushLive],
  schedules: [everyMinute, closeSome],
  lanes: { openings: {}, mail: {} },
  migrations: new URL("./migrations/", import.meta.url),
  routes,
});

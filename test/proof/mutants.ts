import type { Patch } from "./preload.ts";

/** Guards that can be taken out of the code, by the name `--without` knows them by. */
export const mutants: Readonly<Record<string, readonly Patch[]>> = {
  /** Nobody sends an open hand-off again, and nobody looks for lost messages. */
  resend: [
    { file: "/src/core/pass.ts", from: '["reopen", () => resendOpen(ports, { signal, ...fenced })],', to: "" },
    { file: "/src/core/requeue.ts", from: "for (const lane of lanesOf(registry)) {", to: "for (const lane of []) {" },
    { file: "/src/core/worker.ts", from: "await resendOpen(ports, { lane: options.lane });", to: "" },
  ],
  /** A worker that is told to stop just ends. */
  release: [{ file: "/functions/worker.ts", from: 'process.once("SIGTERM"', to: 'process.once("SIGURG"' }],
  /** A settle asks only whether the job is running, not whose try runs. */
  attempt: [{ file: "/src/adapters/postgres/sql/settle.ts", from: "and j.attempt = g.attempt", to: "" }],
  /** A pass writes although its token is old. */
  fence: [{ file: "/src/adapters/postgres/session.ts", from: "if (valid.length === 0)", to: "if (false)" }],
  /** A batch that died is charged to all of its members. */
  alone: [{ file: "/src/core/claim.ts", from: "options.alone ?? arrived.length === 1", to: "true" }],
  /** A message counts as lost although the queue still has some. */
  evidence: [{ file: "/src/core/requeue.ts", from: "if (depth.visible > 0)", to: "if (false)" }],
  /** All caught-up jobs are due at once. */
  pace: [{ file: "/src/core/catch-up.ts", from: "Math.max(now, catchUpUntil ?? now) + misfire.paceMs", to: "now" }],
  /** A tick asks the clock of its host what time it is. */
  "database-clock": [
    {
      file: "/src/core/tick.ts",
      from: "turn.planAll(due.schedules, due.now)",
      to: "turn.planAll(due.schedules, Date.now())",
    },
  ],
};

import type { Patch } from "./preload.ts";

/** What every process of a proof changes: its store writes down what it was answered. */
export const record: Patch = {
  file: "/src/compose/runtime.ts",
  from: "store: createPostgresStore(connections, config)",
  to: "store: globalThis.belfryRecorded(createPostgresStore(connections, config))",
};

/** What is different in release N+1, for the proof of upgrades: it needs one more migration. */
export const newer: readonly Patch[] = [
  {
    file: "/src/postgres/schema-version.ts",
    from: "export const schemaVersionOfCode = ",
    to: "export const schemaVersionOfCode = 1 + ",
  },
];

/** Guards that can be taken out of the code, by the name `--without` knows them by. */
export const mutants: Readonly<Record<string, readonly Patch[]>> = {
  /** A task that runs looks into the graph's newest version. */
  snapshot: [
    {
      file: "/examples/dag-batch/app.ts",
      from: "const order = { graph, task, seconds };",
      to: "const order = { graph, task, seconds: (await loadGraph(graph)).find(({ name }) => name === task)?.payload.seconds ?? seconds };",
    },
  ],
  /** A time that has not started is not late yet. */
  unstarted: [
    {
      file: "/src/insight/objectives.ts",
      from: "coalesce(o.lateness_ms > a.on_time, true)",
      to: "coalesce(o.lateness_ms > a.on_time, false)",
    },
  ],
  /** Tables that are newer are refused, whatever their migrations did. */
  expand: [
    { file: "/src/postgres/schema-version.ts", from: "if (!newer.every(expands))", to: "if (newer.length > 0)" },
  ],
  /** Text that Postgres cannot store gets as far as Postgres. */
  storable: [{ file: "/src/api/body.ts", from: 'refuseUnstorable(value, "");', to: "" }],
  /** A body is parsed whatever its depth and number of names. */
  scan: [{ file: "/src/api/body.ts", from: "  scan(text);", to: "" }],
  /** Stored text goes to the terminal as it is. */
  terminal: [{ file: "/src/cli/output.ts", from: "rows.map((row) => row.map(printable))", to: "rows" }],
  /** No process sends an open outbox batch again, or looks for lost messages. */
  resend: [
    {
      file: "/src/schedule/pass.ts",
      from: '["reopen", () => resendOpen(ports, { rounds: deliveryLimits.relayRoundsMax, signal, fence })],',
      to: "",
    },
    { file: "/src/run/requeue.ts", from: "for (const lane of lanesOf(registry)) {", to: "for (const lane of []) {" },
    { file: "/src/run/worker.ts", from: "await resendOpen(ports, { lane, rounds: 1 });", to: "" },
  ],
  /** A sender never says that it is still at work. */
  kept: [
    {
      file: "/src/run/send.ts",
      from: "let cancel = clock.after(outboxKeptMs, () => void keep());",
      to: "let cancel = (): void => {};",
    },
    { file: "/src/run/send.ts", from: "clock.elapsedMs() - keptMs < outboxOpenMs / 2", to: "true" },
  ],
  /** A worker that is asked to stop just ends. */
  release: [{ file: "/functions/worker.ts", from: 'process.once("SIGTERM"', to: 'process.once("SIGURG"' }],
  /** A settle asks only whether the job is running, not whose try runs. */
  attempt: [{ file: "/src/postgres/sql/settle.ts", from: "j.worker = $13 and j.attempt = ($2", to: "0 < ($2" }],
  /** A pass writes although its token is old. */
  fence: [{ file: "/src/postgres/session.ts", from: "begun?.valid !== true", to: "false" }],
  /** Every end of a run writes a job, and its key shows nothing. */
  followed: [
    { file: "/src/postgres/sql/resolve.ts", from: "m.continued_by is null and ", to: "" },
    { file: "/src/postgres/sql/resolve.ts", from: "kind, 'then:' || run_id, payload", to: "kind, null, payload" },
  ],
  /** Each try of a task of rows gives them other keys. */
  "rows-key": [{ file: "/src/run/run-each.ts", from: "${ownKey(row)}`", to: "${ownKey(row)}:${scope.job.attempt}`" }],
  /** The rows of a task that is canceled go on. */
  "rows-cancel": [{ file: "/src/postgres/sql/rows.ts", from: "and r.state = 'RUNNING'", to: "and false" }],
  /** A worker fails what its release does not define, instead of leaving it to a newer one. */
  "unknown-kind": [{ file: "/src/run/handler.ts", from: "waitMsMax: workerLimits.unknownKindMs", to: "waitMsMax: 0" }],
  /** A release does not look whether the signal has come. */
  "early-signal": [{ file: "/src/postgres/sql/release.ts", from: "${row}.signaled_at is not null", to: "false" }],
  /** A chain fires at each time of the schedule before it, whether it is done or not. */
  order: [
    {
      file: "/src/schedule/chain.ts",
      from: "return hasEnded && endedAt !== null &&",
      to: "return endedAt === null ||",
    },
  ],
  /** The newest list of days decides also what came before it. */
  era: [{ file: "/src/schedule/plan.ts", from: "row.carry?.edited !== true", to: "true" }],
  /** Times that a calendar put at one instant fire each. */
  merged: [{ file: "/src/calendar/fires.ts", from: "group.length < 2", to: "true" }],
  /** A deployment leaves what was planned by the list before. */
  withdrawn: [{ file: "/src/postgres/schedule-store.ts", from: "withdraw(tx, changed,", to: "void (" }],
  /** A call has more jobs than its kind allows. */
  "batch-max": [
    { file: "/src/postgres/sql/batch.ts", from: "(most - count(*) % most) % most as places", to: "1000 as places" },
    { file: "/src/run/run-batches.ts", from: "chunksOf(jobs", to: "((all) => [all])(jobs" },
  ],
  /** A job takes along what waits under another key. */
  "batch-key": [
    { file: "/src/postgres/sql/batch.ts", from: "kind = b.kind and batch_key = b.key and", to: "kind = b.kind and" },
  ],
  /** A batch that died is charged to all of its members. */
  alone: [{ file: "/src/run/worker.ts", from: "free.length === 1 && !scope.hasBatches", to: "true" }],
  /** A message counts as lost although the queue still has some. */
  evidence: [{ file: "/src/run/requeue.ts", from: "if (depth.visible > 0)", to: "if (false)" }],
  /** An effect has another key in every try. */
  key: [
    {
      file: "/src/run/handler-context.ts",
      from: "return (name) => `${this.#scope.job.jobId}:${name}`",
      to: "return (name) => `${this.#scope.job.jobId}:${name}:${Math.random()}`",
    },
  ],
  /** A due row has lost its message although the queue still has delayed ones. */
  late: [
    {
      file: "/src/run/requeue.ts",
      from: "mayBeLate ? Math.max(seenMs, deliveryLimits.lateMessageMs) : seenMs",
      to: "seenMs",
    },
  ],
  /** Whatever an answer says, all messages of a call count as accepted. */
  refused: [
    { file: "/src/aws/queue.ts", from: "accepted.has(index) ? [] : [index]", to: "accepted.has(index) ? [] : []" },
  ],
  /** No process hears that a task has stopped. */
  "task-event": [
    {
      file: "/functions/ecs-events.ts",
      from: "await watch.notice(event);",
      to: "await Promise.resolve([watch, event]);",
    },
  ],
  /** The end of a task ends whatever try its job is at. */
  "whose-task": [
    { file: "/src/run/task-watch.ts", from: "task !== null && task !== end.task", to: "false" },
    {
      file: "/src/run/task-watch.ts",
      from: 'job.state !== "RUNNING" || job.attempt !== end.attempt',
      to: 'job.state !== "RUNNING"',
    },
  ],
  /** No process looks for jobs whose worker died. */
  rescue: [{ file: "/src/run/rescue.ts", from: "round < options.rounds && options", to: "round < 0 && options" }],
  /** A client's key is forgotten on the way. */
  "job-key": [{ file: "/examples/taskflow/routes.ts", from: "type }, { key, ...due }", to: "type }, due" }],
  /** Any answer of a server is worth another try. */
  permanent: [
    {
      file: "/src/define/errors.ts",
      from: "if (!retryableStatuses.has(status) && status < 500)",
      to: "if (status < 0)",
    },
  ],
  /** A connection that breaks while it is idle ends the process. */
  listener: [
    { file: "/src/postgres/connect.ts", from: 'pool.on("error", () => {});', to: "" },
    { file: "/src/postgres/connect.ts", from: 'client.on("error", () => {});', to: "" },
  ],
  /** A connection whose transaction was not begun goes back to the pool as it is. */
  "outside-transaction": [
    {
      file: "/src/postgres/session.ts",
      from: 'await client.query("rollback").catch(() => {});',
      to: 'if (!(error instanceof DatabaseUnavailable)) await client.query("rollback").catch(() => {});',
    },
    { file: "/src/postgres/session.ts", from: 'isOver || client.getTransactionStatus() !== "I"', to: "false" },
  ],
  /** A statement and a new connection wait for ever for a server that does not answer. */
  timeouts: [
    { file: "/src/postgres/connect.ts", from: "query_timeout: postgresLimits.statementMs,", to: "" },
    { file: "/src/postgres/connect.ts", from: "value: postgresLimits.connectMs", to: "value: 0" },
  ],
  /** A worker claims and never says again that it lives. */
  heartbeat: [
    {
      file: "/src/run/lease-keeper.ts",
      from: "(await ports.store.heartbeat(sent, worker)).map(id)",
      to: "asked.map((one) => id(one.job))",
    },
  ],
  /** All caught-up jobs are due at once. */
  pace: [{ file: "/src/schedule/catch-up.ts", from: "catchUpUntil += misfire.paceMs", to: "catchUpUntil = now" }],
  /** A tick asks the clock of its host what time it is. */
  "database-clock": [
    {
      file: "/src/schedule/tick.ts",
      from: "turn.planAll(due.schedules, due.now)",
      to: "turn.planAll(due.schedules, Date.now())",
    },
  ],
  /** A join starts with its first predecessor. */
  counters: [
    {
      file: "/src/postgres/sql/release.ts",
      from: "belfry.join_verdict(l.join_rule, l.preds_open - l.n,",
      to: "belfry.join_verdict(l.join_rule, 0,",
    },
  ],
  /** A claim takes what its condition was not asked about. */
  conditions: [
    { file: "/src/run/run-graph.ts", from: "hasCondition: definition.body.when !== null", to: "hasCondition: false" },
  ],
  /** Mails share the lane of what must be on time. */
  lane: [{ file: "/examples/time-capsule/app.ts", from: 'lane: "mail",', to: 'lane: "openings",' }],
  /** A try that fails leaves no row in the app's own log. */
  "mail-log": [
    {
      file: "/examples/time-capsule/app.ts",
      from: "onSettled: ({ to }, settled, tx) => recordTry(tx, to, settled),",
      to: "",
    },
  ],
  /** An outcome that the store does not take at once is left to the lease. */
  "patient-settle": [
    { file: "/src/run/write-while-away.ts", from: "!isStoreAway(error) || isLast", to: "true || isLast" },
  ],
  /** A lease that looks expired once is rescued. */
  "two-looks": [
    { file: "/src/run/rescue.ts", from: "nowMs - lease.sinceMs >= lookMs(lease)", to: "nowMs - lease.sinceMs >= 0" },
  ],
  /** No process looks which server it is on. */
  epoch: [{ file: "/src/postgres/sql/epoch.ts", from: "server = belfry.server() as is_here", to: "true as is_here" }],
  "lost-ids": [{ file: "/src/postgres/sql/epoch.ts", from: "seqincrement * 1000000000", to: "0" }],
  /** A scheduler that waits for a silent holder begins to count at its own start. */
  "kept-observation": [
    { file: "/src/machine/lock.ts", from: "nowMs - item.silentMs", to: "nowMs" },
    { file: "/src/machine/lock.ts", from: "nowMs - silentMs - countedMs", to: "nowMs" },
  ],
  /** A newcomer takes a free slot although another job is held for it, also the one that a wake has freed. */
  "first-held": [
    { file: "/src/admission/slots.ts", from: "h.id is not null and w.on_refusal", to: "false and w.on_refusal" },
    {
      file: "/src/admission/slots.ts",
      from: "join spare p on p.key = c.key and p.turn = c.turn",
      to: "join spare p on false",
    },
  ],
  /** A claim and a wake take a slot that they saw free, also when another job has it by now. */
  "slot-lock": [
    { file: "/src/admission/slots.ts", from: "    for no key update of s skip locked\n  ) s`;", to: "  ) s`;" },
  ],
  /** A start frees its unit of a rate at once. */
  window: [{ file: "/src/admission/slots.ts", from: "+ belfry.span(got.window_ms) as", to: "as" }],
  circuit: [{ file: "/src/run/circuits.ts", from: "if (kinds.length === 0) return arrived;", to: "return arrived;" }],
  /** The probe of a circuit is let through as often as it comes. */
  "one-probe": [{ file: "/src/postgres/sql/circuit.ts", from: "(j.id, j.failures)", to: "(j.id, c.probe_failures)" }],
  "retry-budget": [{ file: "/src/run/retry-budget.ts", from: "const isLater = delayMs", to: "const isLater = 0" }],
  steps: [{ file: "/src/insight/run-bulk.ts", from: 'bulk.steps?.state === "wanted"', to: "false" }],
  "priority-levels": [{ file: "/src/postgres/sql/turn.ts", from: "v.level * belfry.span", to: "0 * belfry.span" }],
  "handler-gone": [{ file: "/src/postgres/sql/control.ts", from: "= greatest(l.until,", to: "= least(belfry.now()," }],
  /** A caught-up job contends with other caught-up jobs only. */
  "both-slots": [{ file: "/src/schedule/fire.ts", from: "[catchUpGate, overlapGate]", to: "[catchUpGate]" }],
  /** Nothing cancels the jobs that a removed schedule left. */
  "removed-pages": [
    {
      file: "/src/schedule/pass.ts",
      from: '["removed", () => finishRemovals(ports, registry, { signal, fence })],',
      to: "",
    },
  ],
  /** A claim starts a job of a removed schedule. */
  "removed-claim": [
    {
      file: "/src/admission/schedule.ts",
      from: "when: `m.attempt = 0 and s.canceled_below is not null",
      to: "when: `false",
    },
  ],
  /** A full disk is any other error. */
  "full-code": [{ file: "/src/api/store-failure.ts", from: 'codeOf(error) === "53100"', to: 'codeOf(error) === "0"' }],
  /** A log that cannot be written is an error that no listener takes. */
  "log-error": [{ file: "/src/local/process/log-file.ts", from: 'stream.on("error"', to: 'stream.on("never"' }],
  /** Each page of a sweep begins at the first row again. */
  "next-page": [{ file: "/src/run/run-sweep.ts", from: "after = page;", to: "after = null;" }],
  /** Keys differ from page to page, and no page leaves a cursor. */
  repeat: [
    {
      file: "/src/postgres/sql/run.ts",
      from: "set cursor = $2::jsonb",
      to: "set cursor = nullif($2::jsonb, $2::jsonb)",
    },
  ],
  /** A cursor is written before its page. */
  page: [
    {
      file: "/src/run/run-fan-out.ts",
      from: 'await ports.crashPoint?.("fanout.beforePage");',
      to: `await ports.store.transaction((tx) =>
        tx.query("update belfry.run set cursor = $2::jsonb where id = $1", [runId, JSON.stringify(page.cursor)]));
      await ports.crashPoint?.("fanout.beforePage");`,
    },
  ],
};

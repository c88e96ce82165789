import { expect, test } from "vitest";
import type { AttemptOutcome } from "../../src/machine/job.ts";
import { decide, type Outcome } from "../../src/machine/decide.ts";
import type { Claimed } from "../../src/machine/store.ts";
import { openApi } from "../api/harness.ts";
import { running, settleOne } from "../contract/store/fixture.ts";
import { soon } from "../support/soon.ts";

type Opened = Awaited<ReturnType<typeof openApi>>;
interface End {
  readonly word: AttemptOutcome | null;
  readonly alone?: boolean;
  readonly maxAttempts?: number;
  readonly by: (opened: Opened, held: Claimed) => Promise<unknown>;
}

const error = { code: "BROKEN", message: "it broke" };
const counters = {
  maxAttempts: 2,
  retry: { maxAttempts: 2, backoff: "fixed", jitter: false, baseMs: 1, capMs: 1 },
  onAmbiguous: "park",
} as const;

const settled =
  (outcome: Outcome, { failures = 0, interruptions = 0 } = {}): End["by"] =>
  async ({ store }, held) =>
    await settleOne(store, held, decide({ ...counters, failures, interruptions }, outcome, 0));

/** Its worker says nothing more. */
const lost =
  ({ interruptionsMax = 20 } = {}): End["by"] =>
  async ({ store, advance }) => {
    await advance(60_000);
    await store.rescue({ limit: 10, interruptionsMax });
  };

const postponed = { is: "postponed", ...error, afterMs: 1_000, counted: true } as const;
const ends: Readonly<Record<string, End>> = {
  "still running": { word: null, by: async () => undefined },
  "a success": { word: "SUCCESS", by: settled({ is: "success", result: null }) },
  "a failure with a retry": { word: "FAILED", by: settled({ is: "retryable", ...error, afterMs: 3_600_000 }) },
  "the last failure": { word: "FAILED", by: settled({ is: "retryable", ...error, afterMs: null }, { failures: 1 }) },
  "a permanent failure": { word: "FAILED", by: settled({ is: "permanent", ...error }) },
  "an error that claims a lost worker": {
    word: "FAILED",
    by: settled({ is: "permanent", ...error, code: "WORKER_LOST" }),
  },
  "an unknown outcome": { word: "FAILED", by: settled({ is: "ambiguous", ...error }) },
  "given back by a stopping worker": { word: "RELEASED", by: settled({ is: "released", reason: "stopped" }) },
  "given back too often": {
    word: "FAILED",
    by: settled({ is: "released", reason: "stopped" }, { interruptions: 19 }),
  },
  "no room for its task": { word: "RELEASED", by: settled(postponed) },
  "no room for its task, too often": { word: "FAILED", by: settled(postponed, { interruptions: 19 }) },
  "canceled while it ran": { word: "CANCELED", by: async ({ store }, { jobId }) => await store.cancel([jobId]) },
  "its worker died in a batch": { word: "LOST", by: lost() },
  "its worker died in a batch, too often": { word: "LOST", by: lost({ interruptionsMax: 1 }) },
  "its worker died with it alone": { word: "LOST", alone: true, maxAttempts: 2, by: lost() },
  "its worker died with it alone, the last time": { word: "LOST", alone: true, maxAttempts: 1, by: lost() },
};

test("each way in which an attempt ends is one word: in the API, in the view and in the metric", async () => {
  const opened = await openApi([], { own: true });
  await opened.tally.rollUp(1_000);
  const said: Record<string, unknown> = {};
  const written = [];
  for (const [name, { by, alone = false, maxAttempts = 2 }] of Object.entries(ends)) {
    const held = await running(opened.store, { kind: "ping", maxAttempts }, { alone });
    await by(opened, held);
    const { rows } = await opened.pool.query("select outcome from belfry.attempt where job_id = $1", [held.jobId]);
    const { body } = await opened.call("GET", `/jobs/${held.jobId}`);
    const { attempts } = body as unknown as { attempts: readonly { outcome: AttemptOutcome }[] };
    written.push(...rows.map((row) => row.outcome));
    said[name] = [attempts.map(({ outcome }) => outcome), rows.map(({ outcome }) => outcome)];
    if (name === "still running") await opened.store.cancel([held.jobId]);
  }
  const words = (word: AttemptOutcome | null) => (word === null ? [] : [word]);
  const wanted = Object.entries(ends).map(([name, { word }]) => [name, [words(word), words(word)]]);
  expect(said).toEqual(Object.fromEntries(wanted));

  const tallied = Object.entries(Object.groupBy([...written, "CANCELED"], (word) => word));
  // What is added up stops before the oldest transaction of the server, which may be another test's.
  await soon(async () => {
    await opened.tally.rollUp(1_000);
    const answer = await opened.api.fetch(
      new Request("http://127.0.0.1/metrics", { headers: { host: "127.0.0.1:4400" } }),
    );
    const counted = [...(await answer.text()).matchAll(/^belfry_attempts_total\{.*status="(\w+)"\} (\d+)$/gm)];
    expect(Object.fromEntries(counted.map(([, word, count]) => [word, Number(count)]))).toEqual(
      Object.fromEntries(tallied.map(([word, all]) => [word, all?.length])),
    );
  });
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Measured, metricsText } from "../../src/api/routes/metrics.ts";
import type { ObjectiveStand } from "../../src/insight/objectives.ts";
import { durationBuckets, type Histogram, type KindTotal } from "../../src/insight/kind-totals.ts";
import { judged, rulesFile } from "./promtool.ts";

const rules = readFileSync(rulesFile, "utf8");
const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name = ""]) => name);

/** So many in each minute, each of them in the bucket that holds `seconds`. */
const histogram = (count: number, seconds: number): Histogram => {
  const bucket = durationBuckets.filter((bound) => bound <= seconds).length;
  const buckets = Array.from({ length: durationBuckets.length + 1 }, (_, n) => (n === bucket ? count : 0));
  return { count, seconds: count * seconds, buckets };
};

interface Fault {
  readonly total?: (minute: number) => Partial<KindTotal>;
  readonly measured?: Partial<Pick<Measured, "live" | "objectives">> & {
    readonly failed?: number;
    readonly dead?: number;
    readonly runs?: number;
  };
}

function stand(burns: boolean): ObjectiveStand {
  const burn = { windowMs: 3_600_000, rate: 20, recentRate: 20, from: 13.44, burns };
  const promised = { onTimeMs: 60_000, endsWithinMs: null, share: 0.99, overMs: 28 * 86_400_000 };
  return { schedule: "nightly", kind: "send", ...promised, times: 28, missed: 6, left: -20, fast: burn, slow: burn };
}

/** What /metrics answers after so many minutes, of a system that is well but for the fault. */
function answered(minute: number, { total, measured = {} }: Fault): string {
  const well: KindTotal = {
    kind: "send",
    attempts: histogram(10 * minute, 0.2),
    failedAttempts: histogram(0, 0),
    starts: histogram(10 * minute, 0.2),
    created: 10 * minute,
    succeeded: 10 * minute,
    failed: 0,
    lost: 0,
    released: 0,
    attemptsCanceled: 0,
    canceled: 0,
    skipped: 0,
    itemsProcessed: 100 * minute,
    itemsSucceeded: 100 * minute,
    itemsFailed: 0,
    locksAcquired: minute,
    locksFailed: 0,
  };
  const { failed = 0, dead = 0, runs = 0, live = { counts: [], cut: [] }, objectives = [stand(false)] } = measured;
  const failures = { jobs: failed === 0 ? {} : { send: failed }, runs, dead };
  return metricsText(
    {
      totals: [{ ...well, ...total?.(minute) }],
      live,
      failures,
      lags: [{ part: "jobs", lagMs: 0 }],
      objectives,
    },
    () => "default",
  );
}

/** Alerts by fault; every alert that is not named must be silent, and the first fault is none. */
const faults: Readonly<Record<string, Fault & { readonly rings: readonly string[] }>> = {
  "nothing is wrong": { rings: [] },
  "half of the items fail, and the handler returns something else": {
    total: (minute) => ({ itemsSucceeded: 50 * minute, itemsFailed: 50 * minute }),
    rings: ["BelfryItemsFail"],
  },
  "a wrong API key": {
    total: (minute) => ({ succeeded: 0, failed: 10 * minute, failedAttempts: histogram(10 * minute, 0.2) }),
    measured: { failed: 50 },
    rings: ["BelfryJobsFail", "BelfryKindFails"],
  },
  "one job of many fails": {
    total: (minute) => ({ failed: minute < 28 ? 0 : 1 }),
    measured: { failed: 1 },
    rings: ["BelfryJobsFail"],
  },
  "a run fails": { measured: { runs: 1 }, rings: ["BelfryRunsFail"] },
  "dead letters wait": { measured: { dead: 3 }, rings: ["BelfryDeadLettersWait"] },
  "a schedule misses its times": {
    measured: { objectives: [stand(true)] },
    rings: ["BelfryObjectiveBurnsFast", "BelfryObjectiveBurns"],
  },
  "workers are lost": { total: (minute) => ({ lost: minute }), rings: ["BelfryWorkersLost"] },
  "attempts take ten minutes": {
    total: (minute) => ({ attempts: histogram(minute, 600) }),
    rings: ["BelfryExecutionSlow"],
  },
  "failed attempts take ten minutes": {
    total: (minute) => ({ attempts: histogram(minute, 600), failedAttempts: histogram(minute, 600) }),
    rings: ["BelfryExecutionSlow"],
  },
  "jobs start two minutes late": {
    total: (minute) => ({ starts: histogram(minute, 120) }),
    rings: ["BelfryStartsLate"],
  },
  "a lane does not keep up": {
    measured: {
      live: {
        cut: [],
        counts: [
          { lane: "default", state: "QUEUED", hold: "none", blocked: false, jobs: 5, due: 5, oldestMs: 600_000 },
        ],
      },
    },
    rings: ["BelfryBacklogOld"],
  },
  "most jobs find their lock held": {
    total: (minute) => ({ locksFailed: 3 * minute, locksAcquired: minute }),
    rings: ["BelfryLockFails"],
  },
};

const dashboard = JSON.parse(readFileSync(new URL("../../docs/dashboard.grafana.json", import.meta.url), "utf8")) as {
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
};
const queries = dashboard.panels.flatMap(({ targets }) => targets);
const drawn = queries.map(
  ({ expr, legendFormat }) => `${expr} ${legendFormat.replaceAll(/\{\{(\w+)\}\}/g, "$labels.$1")}`,
);

test.each([
  ["a rule", rules],
  ["a panel of the dashboard", drawn.join("\n")],
])("every metric and label of %s is one that /metrics answers", (_, rules) => {
  const text = answered(10, { measured: { ...faults["a lane does not keep up"]?.measured, failed: 1 } });
  const known = new Set([...text.matchAll(/^([a-z_]+)(?:\{| )/gm)].map(([, name]) => name));
  const labels = new Set([...text.matchAll(/([a-z_]+)="/g)].map(([, label]) => label));
  const asked = [...rules.matchAll(/\b((?:belfry|scheduler)_[a-z_]+)/g)].map(([, name]) => name);
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter((name) => !known.has(name))).toEqual([]);
  const by = [...rules.matchAll(/by \(([a-z, ]+)\)|\$labels\.([a-z_]+)|[{,]([a-z]+)(?:=|!=)/g)];
  const named = by.flatMap(([, list = "", ...one]) => [...list.split(", "), ...one]).filter(Boolean);
  expect(named.filter((label) => !labels.has(label))).toEqual([]);
});

test("every rule has a section of the runbook and a fault", () => {
  const book = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
  for (const [, section] of rules.matchAll(/runbook\.md#([a-z-]+)/g)) expect(book).toContain(`\n## ${section}\n`);
  const rung = new Set(Object.values(faults).flatMap(({ rings }) => rings));
  expect(alerts.filter((name) => !rung.has(name))).toEqual(["BelfryUnseen"]);
});

test("promtool takes the rules, and exactly the alerts of each fault ring over what /metrics answers", () => {
  const minutes = Array.from({ length: 31 }, (_, minute) => minute);
  const days = Object.entries(faults).map(([name, fault]) => ({
    name,
    rings: fault.rings,
    answers: minutes.map((minute) => answered(minute, fault)),
  }));
  expect(judged(days)).toContain("SUCCESS");
});

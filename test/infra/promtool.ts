/** Prometheus' own judge of docs/alerts.prometheus.yml, over what /metrics answered. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const rulesFile = fileURLToPath(new URL("../../docs/alerts.prometheus.yml", import.meta.url));

export interface Day {
  readonly name: string;
  /** Of `GET /metrics`, a minute apart. */
  readonly answers: readonly string[];
  /** The alerts that fire in any of these minutes, and no others. */
  readonly rings: readonly string[];
}

/** @returns what promtool says, `SUCCESS` where each day rang as it must; that too, and a warning, on a machine without it. */
export function judged(days: readonly Day[]): string {
  if (spawnSync("promtool", ["--version"]).error !== undefined) {
    console.warn("promtool is not on this machine (Debian: package prometheus): the rules were not evaluated");
    return "SUCCESS: not evaluated";
  }
  const folder = mkdtempSync(join(tmpdir(), "belfry-rules-"));
  try {
    const file = join(folder, "days.json");
    // JSON is YAML.
    writeFileSync(
      file,
      JSON.stringify({ rule_files: [rulesFile], evaluation_interval: "1m", tests: days.map(unitTest) }),
    );
    const ran = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" });
    return `${ran.stdout}${ran.stderr}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function unitTest({ name, answers, rings }: Day) {
  const read = answers.map(
    (text) =>
      new Map([...text.matchAll(/^([^#\s]\S*(?: \S+)*?) (\S+)$/gm)].map(([, id = "", value = ""]) => [id, value])),
  );
  const ids = new Set(read.flatMap((values) => [...values.keys()]));
  return {
    name,
    interval: "1m",
    // A series that an answer lacks has no value then.
    input_series: [...ids].map((series) => ({ series, values: read.map((of) => of.get(series) ?? "_").join(" ") })),
    promql_expr_test: [
      {
        expr: `count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[1d]))`,
        eval_time: `${answers.length - 1}m`,
        exp_samples: rings.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
      },
    ],
  };
}

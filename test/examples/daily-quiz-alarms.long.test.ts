/** What rings on a day of the quiz with dead letters: by its real run, the template's alarms and the rules for Prometheus. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { createTestSystem, type TestSystem } from "belfry/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import app from "../../examples/daily-quiz/app.ts";
import { seed } from "../../examples/daily-quiz/seed.ts";
import { metricsEndpoint } from "../../src/api/routes/metrics.ts";
import type { ApiOptions } from "../../src/api/options.ts";
import { createMetrics } from "../../src/aws/telemetry/metrics.ts";
import { registry as registryOf } from "../../src/define/definition.ts";
import { measureHealth } from "../../src/insight/measure-health.ts";
import { openConnections } from "../../src/postgres/connect.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { createSession } from "../../src/postgres/session.ts";
import { createTally } from "../../src/postgres/tally.ts";
import { recordingLog } from "../../src/testing/recording.ts";
import { topology } from "../../src/stage/topology.ts";
import { type Emitted, emitted, isOver } from "../infra/emitted.ts";
import { judged } from "../infra/promtool.ts";
import { resources, templateOf } from "../infra/synthesize.ts";
import { loadApps, stages } from "../support/own-project.ts";

/** What the push service answers the user. */
let answer: (user: number) => number = () => 200;
const service = createServer((request, response) => {
  void json(request).then((push) => {
    response.writeHead(answer(Number((push as { userId: string }).userId))).end(JSON.stringify({ messageId: "m" }));
  });
});
beforeAll(async () => {
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  process.env["QUIZ_PUSH_URL"] = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(() => void service.close());

const registry = registryOf([app]);
const watched = topology(await loadApps(stages.systems), stages.systems);

/** A scheduler task and a scrape each minute, from the writing of the targets to the last attempt's outcome. */
async function watch(system: TestSystem): Promise<{ written: readonly Emitted[]; answers: readonly string[] }> {
  const options = { applicationName: "watch", connections: 1, txConnections: 1 };
  const connections = openConnections({ url: system.databaseUrl, ...options });
  const [insight, tally] = [
    createDatabase(connections, {}),
    createTally(createSession(connections.main, connections.where)),
  ];
  const metrics = createMetrics({ system: "belfry-systems", stage: "systems", laneOf: () => "push" });
  const answers: string[] = [];
  // What it adds up begins with its first look.
  await tally.rollUp(1_000);
  const written = await emitted(async () => {
    for (let minute = 0; minute < 28; minute += 1) {
      await system.advance("60s");
      while ((await tally.rollUp(1_000)) > 0);
      await measureHealth({ metrics, log: recordingLog([]) }, insight, registry);
      metrics.flush();
      const { handle } = metricsEndpoint({ insight, registry } as unknown as ApiOptions);
      answers.push(await ((await handle({} as never)) as unknown as Response).text());
    }
  });
  await connections.close();
  return { written, answers };
}

const alarms = resources(templateOf(watched), "AWS::CloudWatch::Alarm").filter(
  ({ Properties }) => Properties["TreatMissingData"] !== "breaching",
);
const nameOf = (id: string): string => id.replace(/^BelfryAlarms/, "").replace(/[0-9A-F]{8}$/, "");

const wall = ["FailedJobs", "FailedRuns", "FailingKind", "WaitingDeadLetters"];
const wallOfRules = ["BelfryDeadLettersWait", "BelfryJobsFail", "BelfryKindFails", "BelfryRunsFail"];

/** Of Seoul; those of São Paulo come at the same instant and fare alike. */
test.each([
  ["2 % gone", (user: number) => (user % 50 === 7 ? 410 : 200), "DONE", 3, [], []],
  [
    "2 % busy to the end, alone at the last attempt",
    (user: number) => (user % 50 === 7 ? 503 : 200),
    "DONE",
    3,
    [],
    [],
  ],
  ["60 % refused", (user: number) => (Math.floor(user / 7) % 5 < 3 ? 401 : 200), "FAILED", 109, wall, wallOfRules],
])("178 targets with %s", async (name, answers, state, dead, rings, alerts) => {
  answer = answers;
  const at = "2031-06-01T22:49:30Z";
  await using system = await createTestSystem({
    apps: [app],
    stage: "systems",
    at,
    databaseUrl: inject("postgresUrl"),
  });
  await seed(system.database, 320);
  const seen = await watch(system);
  const { rows } = await system.database.query("select state, failed from belfry.run where total = 178");
  expect(rows).toEqual([{ state, failed: dead }]);
  const ringing = alarms.filter(({ Properties }) => isOver(Properties, seen.written)).map(({ id }) => nameOf(id));
  expect(ringing.toSorted()).toEqual(rings);
  expect(judged([{ name, answers: seen.answers, rings: alerts }])).toContain("SUCCESS");
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { readLedger } from "../../examples/fake/ledger.ts";
import { fakes } from "../../examples/fakes.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { until } from "../proof/until.ts";
import { freshDatabase } from "../support/database.ts";
import { bundleFakes } from "./fakes/bundle.ts";

const startMsMax = 90_000;
const stopMsMax = 20_000;

// Outside the project, so that a bundle cannot find what it forgot to take along.
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "belfry-fakes-"));
  await bundleFakes(join(folder, "app"));
}, startMsMax);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The task of a deployed stage, as its construct starts it, on this machine. */
async function startTask() {
  const database = await freshDatabase({ own: true });
  for (const file of globSync(fileURLToPath(new URL("../../examples/*/migrations/*.sql", import.meta.url))).toSorted())
    await database.pool.query(readFileSync(file, "utf8"));
  const ports = Object.fromEntries(
    await Promise.all(
      fakes.filter((each) => each.address !== undefined).map(async ({ name }) => [name, await freePort()] as const),
    ),
  );
  const child = spawn(process.execPath, [join(folder, "app", "main.mjs"), "serve"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      AWS_REGION: "us-east-1",
      DATABASE_URL: database.url,
      BELFRY_STAGE: "smoke",
      BELFRY_HOME: join(folder, "state"),
      FAKE_PORTS: JSON.stringify(ports),
      TIME_CAPSULE_AFTER_MINUTES: "15",
    },
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  onTestFinished(async () => {
    // Its own children end with it only when it may end them.
    if (child.exitCode === null && child.kill("SIGTERM")) await once(child, "exit");
    await database.close();
  });
  await until("the fakes to serve", startMsMax, async () => {
    if (child.exitCode !== null) throw new Error(`the task ended with ${child.exitCode}`);
    return lines.some((line) => line.includes("the fakes serve"));
  });
  const served = lines.find((line) => line.includes("the fakes serve")) ?? "";
  return { child, database, ports, served };
}

function get(port: number | undefined, path: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request({ host: "127.0.0.1", port, path }, (answer) => resolve(answer.resume().statusCode))
    .on("error", reject)
    .end();
  return promise;
}

test("the bundled task seeds, serves every target on its port with a ledger that can be read, and stops at SIGTERM with 0", async () => {
  const { child, database, ports, served } = await startTask();
  const ledgers = join(folder, "state", "fakes");

  // What they call their addresses themselves is what a deployment calls them.
  const declared = fakes.flatMap(({ address }) => (address === undefined ? [] : [address.variable]));
  expect(served).toContain(declared.toSorted().join(", "));

  const { rows } = await database.pool.query<{ seeded: boolean; opens: boolean }>(`
    select (select count(*) from batch_scheduler.outbox) > 0 and (select count(*) from daily_quiz.app_user) > 0
        and (select count(*) from dag_batch.booking) > 0 as seeded,
      (select min(opens_at) > now() + interval '12 minutes' from time_capsule.capsule) as opens`);
  expect(rows).toEqual([{ seeded: true, opens: true }]);

  expect(await get(ports["batch-scheduler-files"], "/reports/0001.csv")).toBe(200);
  expect(readLedger(ledgers, "batch-scheduler-files")).toMatchObject([{ key: "/reports/0001.csv" }]);

  // As the example's publisher sends.
  const endpoint = `http://127.0.0.1:${ports["batch-scheduler-publisher"]}`;
  const credentials = { accessKeyId: "handler", secretAccessKey: "handler" };
  const sender = new SQSClient({ endpoint, region: "us-east-1", credentials, useQueueUrlAsEndpoint: false });
  const key = "order-000301";
  await sender.send(
    new SendMessageCommand({
      QueueUrl: endpoint,
      MessageBody: "{}",
      MessageAttributes: { key: { DataType: "String", StringValue: key } },
    }),
  );
  sender.destroy();
  expect(readLedger(ledgers, "batch-scheduler-publisher")).toMatchObject([{ key, outcome: "accepted" }]);

  const ended = once(child, "exit", { signal: AbortSignal.timeout(stopMsMax) });
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  for (const port of Object.values(ports)) await expect(get(port, "/")).rejects.toThrow("ECONNREFUSED");
}, 300_000);

import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createCellStore } from "../../src/postgres/cell-store.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { createSession } from "../../src/postgres/session.ts";
import { sqsClient } from "../../src/aws/sqs-client.ts";
import { initCells } from "../../src/cells/move.ts";
import { CellsFailed, connect, type StagePlace } from "../../src/compose/connect.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { startSqs } from "../../src/local/services/sqs.ts";
import { freshDatabase } from "../support/database.ts";

const report = defineJob({ id: "report", payload: z.object({ n: z.number() }), run: () => {} });
const names = ["a", "b"] as const;

test("connect({ cells }) places each job by the part of its key that routeBy chooses, and refuses by the name of a cell that is away", async () => {
  const sqs = await startSqs();
  const client = sqsClient({ region: "us-east-1", sqsEndpoint: sqs.url, dynamodbEndpoint: null });
  const { QueueUrl: url } = await client.call<{ QueueUrl: string }>("CreateQueue", { QueueName: "default" });
  const databases = await Promise.all(names.map(() => freshDatabase({ own: true })));
  onTestFinished(async () => {
    client.destroy();
    await sqs.stop();
    for (const { close } of databases) await close();
  });
  for (const [number, { url: address, pool }] of databases.entries()) {
    await migrate({ url: address, cell: number });
    // As of a stage: the server of the tests does not wait for its disk.
    await pool.query(`alter database ${new URL(address).pathname.slice(1)} set synchronous_commit = on`);
  }
  const stores = new Map(
    databases.map(({ connections: { main, where } }, n) => [
      names[n] ?? "",
      createCellStore(createSession(main, where)),
    ]),
  );
  await initCells(stores, { a: { number: 0, stage: "prod-a" }, b: { number: 1, stage: "prod-b" } });
  const environment = { AWS_REGION: "us-east-1", AWS_ENDPOINT_URL_SQS: sqs.url };
  const cells = Object.fromEntries(
    names.map((name, n): [string, StagePlace] => [
      name,
      { stage: `prod-${name}`, databaseUrl: databases[n]?.url ?? "", queueUrls: { default: url }, environment },
    ]),
  );
  const routeBy = ({ key }: { readonly key: string | null }) => key?.split("/")[0] ?? null;
  const tenants = Array.from({ length: 8 }, (_, n) => `tenant-${n}`);
  const items = (part: string) =>
    tenants.map((tenant) => ({ payload: { n: 1 }, options: { key: `${tenant}/${part}` } }));

  const whole = await connect({ cells, routeBy });
  const placed = async (part: string) => (await report.enqueueAll(items(part))).map(({ id }) => BigInt(id) % 64n);
  const first = await placed("x");
  await whole.close();
  expect(new Set(first)).toEqual(new Set([0n, 1n]));

  const gone = { ...cells, b: { ...cells["b"], databaseUrl: "postgresql://127.0.0.1:9/gone" } };
  const half = await connect({ cells: gone, routeBy });
  const refused = await report.enqueueAll(items("y")).catch((error: unknown) => error);
  await half.close();
  expect(refused).toBeInstanceOf(CellsFailed);
  const places = first.flatMap((number, n) => (number === 1n ? [n] : []));
  expect((refused as CellsFailed).failed).toMatchObject([{ cell: "b", items: places }]);
  expect((refused as CellsFailed).enqueued.map((each) => each !== null)).toEqual(first.map((number) => number === 0n));
});

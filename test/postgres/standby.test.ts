/** What a session does on a server in recovery, and once it is promoted: on a real standby. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openConnections } from "../../src/postgres/connect.ts";
import { DatabaseUnavailable } from "../../src/postgres/failure.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { testStore } from "../support/looks.ts";
import { problemOfStore } from "../../src/api/store-failure.ts";
import { type RunningPostgres, startPostgres } from "../../src/local/services/postgres.ts";
import { aJob } from "../contract/store/fixture.ts";
import { startStandby } from "../support/standby.ts";

const settings = { fsync: "off", synchronous_commit: "off" };

test("a server in recovery is away for writes, reads go on, and its promotion ends that at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "belfry-standby-"));
  const servers: RunningPostgres[] = [];
  onTestFinished(async () => {
    for (const server of servers) {
      await server.stop("immediate");
      rmSync(server.dataFolder, { recursive: true, force: true });
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const primary = await startPostgres({ folder: join(folder, "primary"), port: 0, settings });
  servers.push(primary);
  await migrate({ url: primary.url });
  const standby = await startStandby(
    { folder: join(folder, "primary"), server: primary },
    join(folder, "standby"),
    settings,
  );
  servers.push(standby);
  const connections = openConnections({ url: standby.url, applicationName: "belfry test", connections: 1 });
  onTestFinished(() => connections.close());
  const store = testStore(connections);
  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  const failures = [
    await failureOf(store.transaction((tx) => store.insert([aJob()], { tx }))),
    await failureOf(store.insert([aJob()])),
    await failureOf(store.transaction(() => Promise.resolve())),
  ];
  for (const failure of failures) {
    expect(failure).toBeInstanceOf(DatabaseUnavailable);
    expect(failure).toMatchObject({ code: "25006" });
    expect(problemOfStore(failure, { isWrite: true })).toMatchObject({ status: 503 });
    expect(await store.jobs()).toEqual([]);
  }
  await connections.main.query("select pg_promote()");
  await store.transaction((tx) => store.insert([aJob()], { tx }));
  expect(await store.jobs()).toHaveLength(1);
});

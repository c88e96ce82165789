/** Archives what waits in the database of `DATABASE_URL` to the folder `BELFRY_ARCHIVE`, and ends. */
import { openArchive } from "../../src/aws/archive/open.ts";
import { writeBatch } from "../../src/aws/archive/write-batch.ts";
import { createCrashPoint, parseCrashPlans } from "../../src/stage/crash-point.ts";
import { createArchiveSource } from "../../src/postgres/archive-source.ts";
import { openConnections } from "../../src/postgres/connect.ts";
import { createLog } from "../../src/aws/telemetry/log.ts";
import { archiveNext } from "../../src/insight/write-archive.ts";

const { DATABASE_URL: url = "", BELFRY_ARCHIVE: place = "", BELFRY_CRASH_POINT: plans = "" } = process.env;
const connections = openConnections({ url, applicationName: "belfry archive test" });
const store = await openArchive({ url: place, region: "us-east-1", endpoint: null });
const ports = {
  log: createLog({ service: "archive", level: "info", fields: {} }),
  crashPoint: createCrashPoint(plans === "" ? [] : (parseCrashPlans(plans) ?? [])),
};
const source = createArchiveSource(connections);
const names = { stage: "test", shown: ({ line }: { line: string }) => line };
while ((await archiveNext(ports, { source, write: (batch) => writeBatch(store, batch, names) }, "jobs")) !== "none");
await connections.close();

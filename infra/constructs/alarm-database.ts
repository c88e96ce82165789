import { CfnDBInstance } from "aws-cdk-lib/aws-rds";
import type { Construct } from "constructs";
import type { Topology } from "../../src/stage/topology.ts";
import type { AlarmChoices } from "./alarm-choices.ts";
import { type AlarmMaker, awsMetric } from "./alarm-maker.ts";

type Name = keyof AlarmChoices;
type Row = readonly [id: string, metric: string, what: string, section: string];

const gb = 1_073_741_824;
const mb = 1_048_576;

/** Sign-in by IAM is the first that fails where memory is short. */
const rows: { readonly [N in Name]?: Row } = {
  capacityPercent: ["Capacity", "ACUUtilization", "The cluster is at its largest capacity (percent)", "database-cpu"],
  freeStoragePercent: ["Storage", "FreeStorageSpace", "The database's disk fills up (bytes)", "database-storage"],
  fullStoragePercent: [
    "StorageFull",
    "FreeStorageSpace",
    "The database's disk is nearly full and RDS did not add any (bytes)",
    "database-storage",
  ],
  cpuCredits: ["Credits", "CPUCreditBalance", "The database has no CPU credits left: more is billed", "database-cpu"],
  connectionsPercent: ["Connections", "DatabaseConnections", "Connections are nearly used up", "database-connections"],
  freeMemoryMb: ["Memory", "FreeableMemory", "The database is short of memory (bytes)", "database-memory"],
  swapMb: ["Swap", "SwapUsage", "The database swaps (bytes)", "database-memory"],
  failedSignIns: ["SignIns", "IamDbAuthConnectionFailure", "Sign-ins by IAM fail", "database-sign-in"],
  cpuPercent: ["Cpu", "CPUUtilization", "The database's CPU is busy all the time (percent)", "database-cpu"],
  transactionIds: [
    "TransactionIds",
    "MaximumUsedTransactionIDs",
    "Transaction ids run out: vacuum does not freeze rows",
    "transaction-ids",
  ],
};

const statistics: { readonly [N in Name]?: "Minimum" | "Average" | "Sum" } = {
  freeStoragePercent: "Minimum",
  fullStoragePercent: "Minimum",
  cpuCredits: "Minimum",
  freeMemoryMb: "Minimum",
  capacityPercent: "Average",
  cpuPercent: "Average",
  failedSignIns: "Sum",
};

/** Of five minutes each. A new instance begins without credits, and the smallest earns 12 an hour. */
const periods: { readonly [N in Name]?: number } = {
  capacityPercent: 3,
  cpuCredits: 48,
  connectionsPercent: 3,
  freeMemoryMb: 3,
  swapMb: 3,
  cpuPercent: 6,
};

/** Of the server that RDS made for this deployment: what ends every job when it runs out. */
export function addDatabaseAlarms(
  maker: AlarmMaker,
  choices: AlarmChoices,
  { database, topology }: { readonly database: Construct; readonly topology: Topology },
): void {
  const [instance] = database.node.findAll().filter((part) => part instanceof CfnDBInstance);
  if (instance === undefined) return;
  const {
    dbClusterIdentifier: cluster,
    dbInstanceClass: size,
    allocatedStorage = 0,
    maxAllocatedStorage = 0,
  } = instance;
  // Another instance of a cluster may be its writer tomorrow.
  const of: Readonly<Record<string, string>> =
    cluster === undefined ? { DBInstanceIdentifier: instance.ref } : { DBClusterIdentifier: cluster, Role: "WRITER" };
  const bytes = Number(allocatedStorage) * gb;
  const wholes: { readonly [N in Name]?: number } = {
    freeStoragePercent: bytes,
    fullStoragePercent: bytes,
    connectionsPercent: topology.database.maxConnections,
    freeMemoryMb: 100 * mb,
    swapMb: 100 * mb,
  };
  const isLeftOut: { readonly [N in Name]?: boolean } = {
    capacityPercent: size !== "db.serverless",
    freeStoragePercent: cluster !== undefined,
    fullStoragePercent: cluster !== undefined,
    cpuCredits: !/^db\.t\d/.test(String(size)),
  };
  // RDS adds disk below a tenth, unless it did so in the last six hours or is at the limit: only then is it a person's matter.
  const pages: ReadonlySet<Name> = new Set([
    ...(["fullStoragePercent", "connectionsPercent", "transactionIds"] as const),
    ...(maxAllocatedStorage * gb > bytes ? [] : (["freeStoragePercent"] as const)),
  ]);
  for (const [name, [id, metric, what, section]] of Object.entries(rows) as [Name, Row][]) {
    const choice = isLeftOut[name] === true ? "none" : choices[name];
    const statistic = statistics[name] ?? "Maximum";
    maker.add(`Database${id}`, choice === "none" ? choice : (choice * (wholes[name] ?? 100)) / 100, {
      metric: awsMetric("AWS/RDS", metric, statistic, of),
      what,
      section,
      below: statistic === "Minimum",
      page: pages.has(name),
      periods: periods[name] ?? 1,
    });
  }
}

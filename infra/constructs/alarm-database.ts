import { CfnDBInstance } from "aws-cdk-lib/aws-rds";
import type { Construct } from "constructs";
import type { Topology } from "../../src/stage/topology.ts";
import type { AlarmChoices, Choice } from "./alarm-choices.ts";
import { type AlarmMaker, awsMetric } from "./alarm-maker.ts";

const gb = 1_073_741_824;
const mb = 1_048_576;

/** Of the server that RDS made for this deployment: what ends every job when it runs out. */
export function addDatabaseAlarms(
  maker: AlarmMaker,
  choices: AlarmChoices,
  { database, topology }: { readonly database: Construct; readonly topology: Topology },
): void {
  const [instance] = database.node.findAll().filter((part) => part instanceof CfnDBInstance);
  if (instance === undefined) return;
  const { dbClusterIdentifier: cluster } = instance;
  // Another instance of a cluster may be its writer tomorrow.
  const of = cluster === undefined ? { DBInstanceIdentifier: instance.ref } : writerOf(cluster);
  for (const row of rowsOf(instance, choices, topology)) {
    maker.add(`Database${row.id}`, row.choice, { ...row, metric: awsMetric("AWS/RDS", row.metric, row.statistic, of) });
  }
}

const writerOf = (cluster: string) => ({ DBClusterIdentifier: cluster, Role: "WRITER" });

interface Row {
  readonly id: string;
  readonly choice: Choice;
  readonly metric: string;
  readonly statistic: "Minimum" | "Maximum" | "Average" | "Sum";
  readonly what: string;
  readonly section: string;
  readonly below?: boolean;
  readonly page?: boolean;
  readonly periods?: number;
}

function rowsOf(instance: CfnDBInstance, choices: AlarmChoices, { database }: Topology): readonly Row[] {
  const isAurora = instance.dbClusterIdentifier !== undefined;
  const isServerless = instance.dbInstanceClass === "db.serverless";
  const isBurstable = /^db\.t\d/.test(String(instance.dbInstanceClass));
  const storageBytes = Number(instance.allocatedStorage ?? 0) * gb;
  return [
    ...(isServerless ? capacity(choices) : []),
    ...(isAurora
      ? []
      : storage(choices, {
          bytes: storageBytes,
          grows: (instance.maxAllocatedStorage ?? 0) * gb > storageBytes,
        })),
    ...(isBurstable ? credits(choices) : []),
    {
      id: "Connections",
      choice: percentOf(choices.connectionsPercent, database.maxConnections),
      metric: "DatabaseConnections",
      statistic: "Maximum",
      what: "Connections are nearly used up",
      section: "database-connections",
      periods: 3,
      page: true,
    },
    {
      id: "Memory",
      choice: percentOf(choices.freeMemoryMb, 100 * mb),
      metric: "FreeableMemory",
      statistic: "Minimum",
      what: "The database is short of memory (bytes)",
      section: "database-memory",
      periods: 3,
      below: true,
    },
    ...signIns(choices),
    {
      id: "Cpu",
      choice: choices.cpuPercent,
      metric: "CPUUtilization",
      statistic: "Average",
      what: "The database's CPU is busy all the time (percent)",
      section: "database-cpu",
      periods: 6,
    },
    {
      id: "TransactionIds",
      choice: choices.transactionIds,
      metric: "MaximumUsedTransactionIDs",
      statistic: "Maximum",
      what: "Transaction ids run out: vacuum does not freeze rows",
      section: "transaction-ids",
      page: true,
    },
  ];
}

/** Sign-in by IAM is the first that fails where memory is short. */
const signIns = (choices: AlarmChoices): readonly Row[] => [
  {
    id: "Swap",
    choice: percentOf(choices.swapMb, 100 * mb),
    metric: "SwapUsage",
    statistic: "Maximum",
    what: "The database swaps (bytes)",
    section: "database-memory",
    periods: 3,
  },
  {
    id: "SignIns",
    choice: choices.failedSignIns,
    metric: "IamDbAuthConnectionFailure",
    statistic: "Sum",
    what: "Sign-ins by IAM fail",
    section: "database-sign-in",
  },
];

/** RDS adds disk below a tenth, unless it did so in the last six hours or is at the limit: only then is it a person's matter. */
function storage(
  choices: AlarmChoices,
  { bytes, grows }: { readonly bytes: number; readonly grows: boolean },
): readonly Row[] {
  const free = { metric: "FreeStorageSpace", statistic: "Minimum", section: "database-storage", below: true } as const;
  return [
    {
      ...free,
      id: "Storage",
      choice: percentOf(choices.freeStoragePercent, bytes),
      what: "The database's disk fills up (bytes)",
      page: !grows,
    },
    {
      ...free,
      id: "StorageFull",
      choice: percentOf(choices.fullStoragePercent, bytes),
      what: "The database's disk is nearly full and RDS did not add any (bytes)",
      page: true,
    },
  ];
}

const credits = (choices: AlarmChoices): readonly Row[] => [
  {
    id: "Credits",
    choice: choices.cpuCredits,
    metric: "CPUCreditBalance",
    statistic: "Minimum",
    what: "The database has no CPU credits left: more is billed",
    section: "database-cpu",
    below: true,
    // A new instance begins with none, and the smallest earns 12 an hour.
    periods: 48,
  },
];

const capacity = (choices: AlarmChoices): readonly Row[] => [
  {
    id: "Capacity",
    choice: choices.capacityPercent,
    metric: "ACUUtilization",
    statistic: "Average",
    what: "The cluster is at its largest capacity (percent)",
    section: "database-cpu",
    periods: 3,
  },
];

const percentOf = (choice: Choice, whole: number): Choice => (choice === "none" ? "none" : (choice * whole) / 100);

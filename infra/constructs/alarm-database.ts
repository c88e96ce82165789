import { CfnDBInstance } from "aws-cdk-lib/aws-rds";
import type { Construct } from "constructs";
import type { Topology } from "../../src/topology.ts";
import type { AlarmChoices, Choice } from "./alarm-choices.ts";
import { type AlarmMaker, awsMetric } from "./alarm-maker.ts";

const gb = 1_073_741_824;
const mb = 1_048_576;

/** Of the instances that RDS made for this deployment: what ends every job when it runs out. */
export function addDatabaseAlarms(
  maker: AlarmMaker,
  choices: AlarmChoices,
  { database, topology }: { readonly database: Construct; readonly topology: Topology },
): void {
  const instances = database.node.findAll().filter((part) => part instanceof CfnDBInstance);
  for (const [index, instance] of instances.entries()) {
    const rows =
      instance.sourceDbInstanceIdentifier === undefined ? writer(instance, choices, topology) : replica(choices);
    for (const row of rows) {
      const id = `Database${index === 0 ? "" : String(index + 1)}${row.id}`;
      const metric = awsMetric("AWS/RDS", row.metric, row.statistic, { DBInstanceIdentifier: instance.ref });
      maker.add(id, row.choice, { ...row, metric });
    }
  }
}

interface Row {
  readonly id: string;
  readonly choice: Choice;
  readonly metric: string;
  readonly statistic: "Minimum" | "Maximum" | "Average";
  readonly what: string;
  readonly section: string;
  readonly below?: boolean;
  readonly page?: boolean;
  readonly periods?: number;
}

function writer(instance: CfnDBInstance, choices: AlarmChoices, { database }: Topology): readonly Row[] {
  const isAurora = instance.dbClusterIdentifier !== undefined;
  const isBurstable = /^db\.t\d/.test(String(instance.dbInstanceClass));
  const storageBytes = Number(instance.allocatedStorage ?? 0) * gb;
  return [
    ...(isAurora ? capacity(choices) : storage(choices, storageBytes)),
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

const storage = (choices: AlarmChoices, bytes: number): readonly Row[] => [
  {
    id: "Storage",
    choice: percentOf(choices.freeStoragePercent, bytes),
    metric: "FreeStorageSpace",
    statistic: "Minimum",
    what: "The database's disk is nearly full (bytes)",
    section: "database-storage",
    below: true,
    page: true,
  },
];

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

const replica = (choices: AlarmChoices): readonly Row[] => [
  {
    id: "Lag",
    choice: choices.replicaLagSeconds,
    metric: "ReplicaLag",
    statistic: "Maximum",
    what: "The replica is behind (seconds)",
    section: "replica-lag",
  },
];

const percentOf = (choice: Choice, whole: number): Choice => (choice === "none" ? "none" : (choice * whole) / 100);

import { Stack, type StackProps } from "aws-cdk-lib";
import type { ContainerImage } from "aws-cdk-lib/aws-ecs";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { Code } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import type { Topology } from "../src/topology.ts";
import { Database } from "./constructs/database.ts";
import { Lane } from "./constructs/lane.ts";
import { LockTable } from "./constructs/lock-table.ts";
import { SchedulerTask } from "./constructs/scheduler-task.ts";

export interface BelfryStackProps extends StackProps {
  readonly topology: Topology;
  readonly code: { readonly worker: Code; readonly deadLetter: Code };
  readonly image: ContainerImage;
}

/** One stage: what `topology.ts` says has to exist, composed. */
export class BelfryStack extends Stack {
  constructor(scope: Construct, id: string, { topology, code, image, ...props }: BelfryStackProps) {
    super(scope, id, props);
    const database = new Database(this, "Database", topology.stage);
    const locks = new LockTable(this, "Locks");
    const lanes = topology.lanes.map((lane) => new Lane(this, `Lane-${lane.name}`, { lane, topology, database, code }));
    const shared = {
      // A job of one lane may enqueue for any other.
      BELFRY_QUEUE_URLS: this.toJsonString(Object.fromEntries(lanes.map((lane) => [lane.name, lane.queue.queueUrl]))),
      BELFRY_LOCK_TABLE: locks.table.tableName,
    };
    const scheduler = new SchedulerTask(this, "Scheduler", {
      topology,
      database,
      image,
      environment: {
        BELFRY_STAGE: topology.stage,
        BELFRY_POOL_SIZE: String(topology.database.poolPerSchedulerTask),
        ...shared,
      },
    });
    const functions = lanes.flatMap((lane) => lane.functions);
    for (const each of functions) {
      for (const [name, value] of Object.entries(shared)) each.addEnvironment(name, value);
    }
    for (const grantee of [scheduler.role, ...functions]) allowWork(grantee, lanes, locks);
  }
}

/** Whoever may finish a job may hand off the next and take a named lock. */
function allowWork(grantee: IGrantable, lanes: readonly Lane[], locks: LockTable): void {
  locks.grantLocking(grantee);
  for (const lane of lanes) lane.grantSend(grantee);
}

import type { Rule } from "aws-cdk-lib/aws-events";
import type { Function } from "aws-cdk-lib/aws-lambda";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { Topology } from "../../src/stage/topology.ts";
import type { AlarmChoices } from "./alarm-choices.ts";
import type { Topics } from "./alarm-topics.ts";
import type { Lane } from "./lane.ts";

export interface AlarmsProps {
  readonly system: string;
  readonly topology: Topology;
  readonly choices: AlarmChoices;
  readonly topics: Topics;
  readonly lanes: readonly Lane[];
  readonly functions: AlarmedFunctions;
  readonly wakes: { readonly lost: Queue | null; readonly rules: readonly Rule[] };
  /** Ends of tasks that no function could take; null when no job runs on Fargate. */
  readonly lostEvents: Queue | null;
  /** Searched for what RDS and the network made. */
  readonly database: object;
  readonly network: Construct;
}

export interface AlarmedFunctions {
  readonly workers: readonly Function[];
  readonly api: Function;
  readonly migration: Function;
  /** The drain, and what takes the ends of tasks. */
  readonly others: readonly Function[];
}

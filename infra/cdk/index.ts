/** `belfry/cdk`: a stage of a project in a CDK app of your own. */
export { Belfry } from "../constructs/belfry.ts";
export type { BelfryProps } from "../constructs/belfry-props.ts";
export type { Lane } from "../constructs/lane.ts";
export { type AlarmChoices, type Choice, spotAlarms, usualAlarms } from "../constructs/alarm-choices.ts";
export type { Subscribers, Topics } from "../constructs/alarm-topics.ts";
export type { AuroraProps, AuroraServerlessProps } from "../constructs/aurora.ts";
export type { DatabaseProps } from "../constructs/database-defaults.ts";
export type { ExistingDatabaseProps } from "../constructs/existing-database.ts";
export type { LanePrincipal } from "../constructs/lane-principal.ts";
export type { ServerProps } from "../constructs/rds-database.ts";
export type { ServerWindows } from "../constructs/server-windows.ts";
export type { BackupCopy, RdsInstanceProps } from "../constructs/rds-instance.ts";
export type { SchedulerKind } from "../../src/stage/stages.ts";
export type { Ipv4, NetworkProps } from "../constructs/network.ts";
export type { Beside } from "../constructs/vpc-function.ts";

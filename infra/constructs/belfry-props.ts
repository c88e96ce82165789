import type { ContainerImage, ICluster } from "aws-cdk-lib/aws-ecs";
import type { IManagedPolicy } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import type { SchedulerKind } from "../../src/stage/stages.ts";
import type { Release } from "../bundled-release.ts";
import type { AlarmChoices } from "./alarm-choices.ts";
import type { Subscribers, Topics } from "./alarm-topics.ts";
import type { DatabaseProps } from "./database-defaults.ts";
import type { Fakes } from "./fakes.ts";
import type { NetworkProps } from "./network.ts";

/** @beta */
export interface BelfryProps {
  /** Of belfry.config.ts. */
  readonly stage: string;
  /**
   * Distinguishes systems that have a stage of one name in one account and region: in metrics, in paths of parameters and in
   * outputs. Letters, digits and hyphens. Default: the name of the stack. A change begins all metrics again.
   */
  readonly system?: string;
  /** The project's folder. Default: the nearest belfry.config.ts from the working folder. */
  readonly project?: string;
  /** Default: `{ kind: "small", ipv4: "none" }`. */
  readonly network?: NetworkProps;
  /** Default: one small RDS instance in one zone, backed up for 7 days, and protected from deletion as its stack is. */
  readonly database?: DatabaseProps;
  /** A threshold or `none` for each alarm. Default: `usualAlarms`. */
  readonly alarms?: AlarmChoices;
  /** Where alarms go. Default: two new topics, to subscribe to. */
  readonly topics?: Topics;
  /** Who receives them. Left out: subscribe later; each synthesis warns of it. */
  readonly subscribers?: Subscribers;
  /**
   * Of the whole account: `warn` of the topics hears when it is spent, or will be. Begin with twice what docs/costs.md computes.
   * Default: no budget.
   */
  readonly monthlyBudgetUsd?: number;
  /**
   * `each-minute`: a rule starts the scheduler's task each minute. `service`: one task runs all the time, which is cheaper where
   * AWS Config records network interfaces. Two at once do no harm, because the lock lets one work. Default `each-minute`.
   */
  readonly scheduler?: SchedulerKind;
  /**
   * Whether passes run on spare capacity, which a cluster of your own must have too, with one on demand each 5 minutes, or 10
   * beside a service. Take `spotAlarms` with it. Default false.
   */
  readonly spotPasses?: boolean;
  /** Where tasks run. Default: a cluster of its own. */
  readonly cluster?: ICluster;
  /**
   * The keys that jobs are sealed by (`seal` of a definition), by name. Only the lanes whose jobs name a key may decrypt with it; the API,
   * the scheduler and they may encrypt.
   */
  readonly seals?: Readonly<Record<string, IKey>>;
  /**
   * Encrypts disk and backups of the database, queues, the lock table, logs and the archive's own bucket. It cannot change later where
   * the database is the stage's own. Default: AWS's own keys.
   */
  readonly encryptionKey?: IKey;
  /** Whether the synthesis looks for what would fail only in an account, like a service without a way to it. Default true. */
  readonly checks?: boolean;
  /** Of the scheduler task. Default: built from the bundle when it is deployed. */
  readonly image?: ContainerImage;
  /** Put on every role this makes, as some organisations require. */
  readonly permissionsBoundary?: IManagedPolicy;
  /** On everything that can carry tags, besides `belfry:stage`. */
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * Left out: made by `belfry bundle`.
   * @internal
   */
  readonly release?: Release;
  /**
   * Left out: what the apps call is real.
   * @internal
   */
  readonly fakes?: (scope: Construct) => Fakes;
}

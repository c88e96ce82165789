import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import { ContainerImage, type ICluster } from "aws-cdk-lib/aws-ecs";
import type { IManagedPolicy } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { releaseCode } from "../code.ts";
import { type AlarmChoices, usualAlarms } from "../constructs/alarm-choices.ts";
import type { Topics } from "../constructs/alarm-topics.ts";
import { Belfry as Parts } from "../constructs/belfry.ts";
import type { DatabaseProps } from "../constructs/database-choice.ts";
import type { NetworkProps } from "../constructs/network.ts";
import type { Subscribers } from "../constructs/alarm-subscribers.ts";
import { bundledRelease } from "./bundled-release.ts";

export interface BelfryProps {
  /** Of belfry.config.ts. */
  readonly stage: string;
  /** The project's folder. Default: the nearest belfry.config.ts from the working folder. */
  readonly project?: string;
  /** Default: `{ kind: "small", ipv4: "none" }`. */
  readonly network?: NetworkProps;
  /** Default: one small RDS instance in one zone, backed up for 7 days and protected from deletion. */
  readonly database?: DatabaseProps;
  /** A threshold or `none` for each alarm. Default: `usualAlarms`. */
  readonly alarms?: AlarmChoices;
  /** Where alarms go. Default: two new topics, to subscribe to. */
  readonly topics?: Topics;
  /** Who receives them. Left out: subscribers are added later. */
  readonly subscribers?: Subscribers;
  /** Where tasks run. Default: a cluster of its own. */
  readonly cluster?: ICluster;
  /** Of the scheduler task. Default: built from the bundle when it is deployed. */
  readonly image?: ContainerImage;
  /** Put on every role this makes, as some organisations require. */
  readonly permissionsBoundary?: IManagedPolicy;
  /** On everything that can carry tags, besides `belfry:stage`. */
  readonly tags?: Readonly<Record<string, string>>;
}

const smallDatabase: DatabaseProps = {
  kind: "instance",
  instanceClass: "db.t4g.micro",
  storageGb: 20,
  maxStorageGb: 100,
  multiAz: false,
  backupDays: 7,
  onDelete: "snapshot",
  deletionProtection: true,
};

/**
 * One stage of a project, for any stack. Its code is checked and bundled by `belfry bundle` in a process of its own, so a
 * CDK app may be CommonJS or run on any Node that the CDK supports. @throws Error with what `belfry check` says.
 */
export class Belfry extends Parts {
  constructor(scope: Construct, id: string, props: BelfryProps) {
    const { stage, project, ...given } = props;
    const release = bundledRelease(scope, { stage, ...(project === undefined ? {} : { project }) });
    super(scope, id, {
      network: { kind: "small", ipv4: "none" },
      database: smallDatabase,
      alarms: usualAlarms,
      image: ContainerImage.fromAsset(release.image, { platform: Platform.LINUX_ARM64 }),
      ...given,
      topology: release.topology,
      code: releaseCode(release.functions),
    });
  }
}

import { spotAlarms, usualAlarms } from "./constructs/alarm-choices.ts";
import type { Belfry } from "./constructs/belfry.ts";
import type { BelfryProps } from "./constructs/belfry-props.ts";
import { connectSystems } from "./systems.ts";

/** Where and how large a stage is deployed; what runs in it is in `belfry.config.ts`, under the same name. */
export interface Deployment
  extends
    Required<Pick<BelfryProps, "network" | "database" | "alarms" | "tags">>,
    Pick<BelfryProps, "scheduler" | "spotPasses" | "subscribers" | "monthlyBudgetUsd"> {
  /** Left out: the account and region that the CLI is signed in to. */
  readonly env?: { readonly account?: string; readonly region: string };
  /** Of a KMS key of yours, which then encrypts all that the stage keeps. Left out: AWS's own keys. */
  readonly encryptionKeyArn?: string;
  /** An image that others build and push; left out, it is built from the Dockerfile when it is deployed. */
  readonly image?: string;
  /** As `image`, of the targets that the examples call. */
  readonly fakesImage?: string;
  /** Whether the task of those targets judges what reached them. */
  readonly judged?: boolean;
  readonly connect?: (belfry: Belfry) => void;
  /**
   * Of the stack, which its database follows. Set it to true once the first deployment has succeeded, and deploy again:
   * before that it keeps a failed one from being cleaned up.
   */
  readonly terminationProtection: boolean;
}

const tried = { kind: "instance", backupDays: 1 } as const;

const unheard = { acknowledged: "a stage to try things in: its console shows what fails" } as const;

/** The deployed stages, side by side. */
export const deployments: Readonly<Record<string, Deployment>> = {
  dev: {
    network: { kind: "small", ipv4: "none" },
    database: tried,
    spotPasses: true,
    alarms: spotAlarms,
    subscribers: unheard,
    terminationProtection: false,
    tags: {},
  },
  emulator: {
    network: { kind: "by-parameters" },
    database: { kind: "existing", verifyCertificate: false },
    image: "belfry-emulator",
    // The emulator refuses alarms on an expression over two metrics.
    alarms: { ...usualAlarms, lockFailedPercent: "none", failedItemsPercent: "none", rescuedPercent: "none" },
    subscribers: unheard,
    terminationProtection: false,
    tags: {},
  },
  smoke: {
    network: { kind: "small", ipv4: "none" },
    database: tried,
    spotPasses: true,
    judged: true,
    alarms: spotAlarms,
    subscribers: unheard,
    terminationProtection: false,
    tags: {},
  },
  systems: {
    // What they call has IPv4 addresses.
    network: { kind: "default", ipv4: "gateway", gateways: 1 },
    database: { kind: "instance" },
    connect: connectSystems,
    alarms: usualAlarms,
    subscribers: unheard,
    terminationProtection: false,
    tags: {},
  },
  small: {
    network: { kind: "small", ipv4: "none" },
    database: { kind: "instance", onDelete: "keep" },
    // The cheaper way by docs/costs.md, as for `prod`; and AWS Config, where it records, does not see a task each minute.
    scheduler: "service",
    spotPasses: true,
    // While there is no spare capacity, a pass comes each 10 minutes.
    alarms: { ...spotAlarms, schedulerSilentWakes: 12 },
    terminationProtection: false,
    tags: {},
  },
  prod: {
    // One gateway would save 36.50 USD a month; then the standby's zone could start no task while the other one fails.
    network: { kind: "default", ipv4: "gateway", gateways: 2 },
    database: {
      kind: "instance",
      instanceClass: "db.t4g.medium",
      storageGb: 50,
      maxStorageGb: 500,
      multiAz: true,
      onDelete: "keep",
    },
    scheduler: "service",
    alarms: { ...usualAlarms, freeMemoryMb: 256 },
    terminationProtection: false,
    tags: {},
  },
};

/** @throws Error where the stage runs somewhere but is deployed nowhere. */
export function deploymentOf(stage: string): Deployment {
  const deployment = deployments[stage];
  if (deployment === undefined) throw new Error(`stage "${stage}" is deployed but has no line in infra/stages.ts`);
  return deployment;
}

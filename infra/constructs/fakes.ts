import { Duration } from "aws-cdk-lib";
import { type IVpc, Port, SecurityGroup } from "aws-cdk-lib/aws-ec2";
import {
  type ContainerImage,
  FargateService,
  type FargateTaskDefinition,
  type ICluster,
  PropagatedTagSource,
} from "aws-cdk-lib/aws-ecs";
import type { Function } from "aws-cdk-lib/aws-lambda";
import { DnsRecordType, PrivateDnsNamespace } from "aws-cdk-lib/aws-servicediscovery";
import { Construct } from "constructs";
import { armTask, databaseVariables } from "./arm-task.ts";
import type { FunctionShare } from "./vpc-function.ts";

/** The outside targets of a stage's apps, where a stage has apps that only play with some. */
export interface FakesProps {
  /** As `examples/fake.ts` describes them; one without an address is not called. */
  readonly targets: readonly FakeTarget[];
  /** The target `fakes` of the Dockerfile. */
  readonly image: ContainerImage;
  /** `judge` also judges what reached them, for `npm run smoke:aws`. */
  readonly command: "serve" | "judge";
  readonly stage: string;
}

export interface FakeTarget {
  readonly name: string;
  readonly address?: { readonly variable: string; readonly scheme: string };
}

interface TaskParts {
  readonly share: FunctionShare;
  readonly cluster: ICluster;
  readonly stage: string;
  /** What the judge's people call. */
  readonly api: { readonly function: Function; readonly url: string };
}

const firstPort = 8_100;
const host = "targets";
/** Where the image has a folder that its user may write. */
const state = "/state";

/**
 * One task with all fakes, by a name in the VPC, on a port each. Only Belfry's processes reach it. It keeps the ledgers
 * while it runs; a second task would have other ledgers, so there is never one beside it.
 */
export class Fakes extends Construct {
  /** For the processes that run handlers: where their targets are. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #props: Omit<FakesProps, "stage">;
  readonly #zone: string;
  readonly #ports: Readonly<Record<string, number>>;

  constructor(scope: Construct, id: string, { stage, ...props }: FakesProps) {
    super(scope, id);
    this.#props = props;
    this.#zone = `${stage}.belfry.internal`;
    const targets = props.targets.flatMap(({ name, address }) => (address === undefined ? [] : [{ name, ...address }]));
    this.#ports = Object.fromEntries(targets.map(({ name }, index) => [name, firstPort + index]));
    this.environment = Object.fromEntries(
      targets.map(({ name, variable, scheme }) => [variable, `${scheme}://${host}.${this.#zone}:${this.#ports[name]}`]),
    );
  }

  /** A second step, because the task calls the API, which has to know the targets. */
  addTask(parts: TaskParts): FargateService {
    const { share, cluster, api } = parts;
    const { network, database } = share;
    const task = this.#taskDefinition(parts);
    database.grantConnect(task.taskRole);
    if (this.#props.command === "judge") api.function.grantInvokeUrl(task.taskRole);
    const doors = new SecurityGroup(this, "Doors", {
      vpc: network.vpc,
      description: "Fakes of outside services",
      allowAllOutbound: false,
    });
    for (const [name, port] of Object.entries(this.#ports)) {
      doors.connections.allowFrom(database.clients, Port.tcp(port), `Processes of Belfry to ${name}`);
    }
    return new FargateService(this, "Service", {
      cluster,
      taskDefinition: task,
      desiredCount: 1,
      minHealthyPercent: 0,
      maxHealthyPercent: 100,
      // A task that cannot start fails the deployment in minutes, not in hours.
      circuitBreaker: { enable: true, rollback: true },
      vpcSubnets: network.tasks,
      assignPublicIp: network.assignPublicIp,
      securityGroups: [database.clients, doors],
      propagateTags: PropagatedTagSource.TASK_DEFINITION,
      cloudMapOptions: {
        name: host,
        cloudMapNamespace: this.#namespace(network.vpc),
        dnsRecordType: DnsRecordType.A,
        dnsTtl: Duration.seconds(10),
      },
    });
  }

  #namespace(vpc: IVpc): PrivateDnsNamespace {
    return new PrivateDnsNamespace(this, "Zone", {
      name: this.#zone,
      vpc,
      description: "Fakes of outside services",
    });
  }

  #taskDefinition({ share, stage, api }: TaskParts): FargateTaskDefinition {
    const { database, logRetentionDays } = share;
    const task = armTask(this, {
      cpu: 512,
      memoryLimitMiB: 1_024,
      volumes: [{ name: "state" }],
      container: "Targets",
      image: this.#props.image,
      command: [this.#props.command],
      environment: {
        ...databaseVariables(database),
        BELFRY_STAGE: stage,
        BELFRY_POOL_SIZE: "3",
        BELFRY_HOME: state,
        BELFRY_URL: api.url,
        HOST: "0.0.0.0",
        FAKE_PORTS: JSON.stringify(this.#ports),
        TIME_CAPSULE_AFTER_MINUTES: "15",
      },
      stopTimeout: Duration.seconds(30),
      // The rules of a release wait for a service that is well: by then the seeds have run and all targets serve.
      healthCheck: { command: ["CMD-SHELL", `test -e ${state}/ready`], startPeriod: Duration.minutes(2) },
      streamPrefix: "targets",
      logRetentionDays,
    });
    task.defaultContainer?.addMountPoints({ containerPath: state, sourceVolume: "state", readOnly: false });
    return task;
  }
}

import { Duration, Lazy, Stack } from "aws-cdk-lib";
import {
  type ContainerImage,
  FargateService,
  type FargateTaskDefinition,
  type ICluster,
  type ITaskDefinition,
  PropagatedTagSource,
} from "aws-cdk-lib/aws-ecs";
import { CfnRule, Rule, Schedule } from "aws-cdk-lib/aws-events";
import { EcsTask, type TaskEnvironmentVariable } from "aws-cdk-lib/aws-events-targets";
import { type IRole, PolicyStatement, Role } from "aws-cdk-lib/aws-iam";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { onDemandMinutes, type SchedulerKind } from "../../src/stage/stages.ts";
import type { ScheduleWakeTopology, Topology, WakeTopology } from "../../src/stage/topology.ts";
import { armTask, databaseVariables } from "./arm-task.ts";
import type { Database } from "./database.ts";
import type { Lane } from "./lane.ts";
import { grantRead, secretsVariable } from "./lane-settings.ts";
import type { Network } from "./network.ts";
import { deadLetterQueue } from "./queue.ts";
import { forOurOwn } from "./service-principal.ts";
import { grantTaskLook, grantTaskStart } from "./task-rights.ts";

export interface SchedulerTaskProps {
  readonly topology: Topology;
  readonly network: Network;
  readonly database: Database;
  readonly cluster: ICluster;
  readonly image: ContainerImage;
  readonly environment: Readonly<Record<string, string>>;
  readonly kind: SchedulerKind;
  /** Passes on spare capacity, at about a third of the price, with one on demand now and then for when there is none. */
  readonly isSpot: boolean;
  /** Those whose schedules have rules of their own: their jobs run in this task. */
  readonly lanes: readonly Lane[];
}

/** The Fargate task that makes passes, and the rules that wake it. A wake that could not start one is kept in a queue. */
export class SchedulerTask extends Construct {
  readonly role: IRole;
  readonly starters: readonly Construct[];
  /** Those of each minute's pass, without those of single schedules and the one on demand. */
  readonly wakes: readonly Rule[];
  /** Null where no rule starts a task. */
  readonly lostWakes: Queue | null;
  readonly #task: FargateTaskDefinition;

  constructor(scope: Construct, id: string, props: SchedulerTaskProps) {
    super(scope, id);
    const { topology, kind, isSpot, cluster } = props;
    const task = taskDefinition(this, props);
    props.database.grantConnect(task.taskRole);
    // The scheduler reports tasks that never end.
    grantTaskLook(task.taskRole, cluster);
    if (topology.eventBus !== undefined) grantPutEvents(task.taskRole, this, topology.eventBus);
    if (topology.eventWebhook !== undefined) grantRead(this, topology.eventWebhook.secret, task.taskRole);
    const isService = kind === "service";
    const passes = isService ? [] : topology.wakes.map((wake) => passOf(wake, isSpot));
    const onDemand = isSpot ? topology.wakes.map((wake) => passOnDemand(wake, onDemandMinutes[kind])) : [];
    const schedules = topology.scheduleWakes.map((wake) => {
      const lane = props.lanes.find(({ name }) => name === wake.lane);
      lane?.grantPrincipal.join(task.taskRole);
      return runOf(wake, lane);
    });
    const wakes = [...passes, ...onDemand, ...schedules];
    const needed =
      wakes.length === 0
        ? null
        : {
            lostWakes: deadLetterQueue(this, "LostWakes", { retentionSeconds: 14 * 86_400 }),
            role: wakeRole(this, task, cluster),
          };
    const rules = needed === null ? [] : wakes.map((wake) => addWake(this, wake, { ...props, task, ...needed }));
    this.lostWakes = needed?.lostWakes ?? null;
    this.wakes = rules.slice(0, passes.length);
    this.starters = [...rules, ...(isService ? [addService(this, task, props)] : [])];
    this.role = task.taskRole;
    this.#task = task;
  }

  addEnvironment(name: string, value: string): void {
    this.#task.defaultContainer?.addEnvironment(name, value);
  }
}

/** A task of the next release begins before the one of the last has ended: the lock decides between them. */
function addService(
  scope: Construct,
  task: FargateTaskDefinition,
  { cluster, network, database, isSpot }: SchedulerTaskProps,
): FargateService {
  return new FargateService(scope, "Service", {
    cluster,
    taskDefinition: task,
    desiredCount: 1,
    minHealthyPercent: 100,
    maxHealthyPercent: 200,
    // A task that cannot start fails the deployment in minutes, not in hours.
    circuitBreaker: { enable: true, rollback: true },
    vpcSubnets: network.tasks,
    assignPublicIp: network.assignPublicIp,
    securityGroups: [database.clients],
    propagateTags: PropagatedTagSource.TASK_DEFINITION,
    ...(isSpot ? { capacityProviderStrategies: [{ capacityProvider: spareCapacity, weight: 1 }] } : {}),
  });
}

function grantPutEvents(role: IRole, scope: Construct, bus: string): void {
  const named = { service: "events", resource: "event-bus", resourceName: bus };
  const resource = bus.startsWith("arn:") ? bus : Stack.of(scope).formatArn(named);
  role.addToPrincipalPolicy(new PolicyStatement({ actions: ["events:PutEvents"], resources: [resource] }));
}

const containerName = "Pass";

function taskDefinition(scope: Construct, props: SchedulerTaskProps): FargateTaskDefinition {
  const { topology, database, kind, image, environment } = props;
  const { cpu, memoryMb, stopTimeoutSeconds } = topology.schedulerTask;
  return armTask(scope, {
    cpu,
    memoryLimitMiB: memoryMb,
    container: containerName,
    image,
    command: [kind === "service" ? "serve" : "pass"],
    environment: { ...databaseVariables(database), ...environment, ...webhookEnvironment(scope, topology) },
    stopTimeout: Duration.seconds(stopTimeoutSeconds),
    streamPrefix: "pass",
    logRetentionDays: topology.logRetentionDays,
  });
}

/** Where events are posted, and where the secret that signs them is kept. */
function webhookEnvironment(scope: Construct, { eventWebhook }: Topology): Readonly<Record<string, string>> {
  if (eventWebhook === undefined) return {};
  const secrets = { BELFRY_EVENT_WEBHOOK_SECRET: eventWebhook.secret };
  return { BELFRY_EVENT_WEBHOOK: eventWebhook.url, BELFRY_SECRETS: secretsVariable(scope, secrets) };
}

/** EventBridge may start this task and give it its two roles, and nothing else. */
function wakeRole(scope: Construct, task: FargateTaskDefinition, cluster: ICluster): Role {
  const role = new Role(scope, "WakeRole", { assumedBy: forOurOwn("rules") });
  grantTaskStart(role, task, cluster);
  return role;
}

interface WakeParts extends SchedulerTaskProps {
  readonly task: FargateTaskDefinition;
  readonly lostWakes: Queue;
  readonly role: Role;
}

type Wake = Pick<WakeTopology, "id" | "maximumEventAgeSeconds" | "retryAttempts"> & {
  readonly schedule: Schedule;
  readonly isSpot: boolean;
  readonly command?: string[];
  readonly lane?: Lane | undefined;
};

const variables = (lane: Lane | undefined): readonly TaskEnvironmentVariable[] =>
  Object.entries(lane?.taskEnvironment() ?? {}).map(([name, value]) => ({ name, value }));

/** An interrupted pass is made again by the next task; an interrupted handler would cost its job an attempt. */
const passOf = (wake: WakeTopology, isSpot: boolean): Wake => ({
  ...wake,
  id: `Wake-${wake.id}`,
  schedule: Schedule.rate(Duration.minutes(wake.rateMinutes)),
  isSpot,
});

/** Beside another pass the lock ends this one at once. */
const passOnDemand = (wake: WakeTopology, minutes: number): Wake => ({
  ...wake,
  id: `OnDemand-${wake.id}`,
  schedule: Schedule.rate(Duration.minutes(minutes)),
  command: ["pass"],
  isSpot: false,
});

const runOf = (wake: ScheduleWakeTopology, lane: Lane | undefined): Wake => ({
  ...wake,
  id: `Schedule-${wake.schedule}`,
  schedule: Schedule.expression(wake.expression),
  command: ["run-schedule", wake.schedule],
  isSpot: false,
  lane,
});

/** A stale wake is worth nothing, because the next one does its work: EventBridge's default would replay it for a day. */
function addWake(scope: Construct, wake: Wake, parts: WakeParts): Rule {
  const { command, lane } = wake;
  const environment = Lazy.any({ produce: () => variables(lane) }) as unknown as TaskEnvironmentVariable[];
  const rule = new Rule(scope, wake.id, { schedule: wake.schedule });
  rule.addTarget(
    new EcsTask({
      cluster: parts.cluster,
      // The library's classes spell their optional fields more loosely than its interfaces.
      taskDefinition: parts.task as ITaskDefinition,
      taskCount: 1,
      // The library would add wider statements than the ones above.
      role: parts.role.withoutPolicyUpdates(),
      subnetSelection: parts.network.tasks,
      assignPublicIp: parts.network.assignPublicIp,
      securityGroups: [parts.database.clients],
      deadLetterQueue: parts.lostWakes,
      maxEventAge: Duration.seconds(wake.maximumEventAgeSeconds),
      retryAttempts: wake.retryAttempts,
      propagateTags: PropagatedTagSource.TASK_DEFINITION,
      ...(command === undefined ? {} : { containerOverrides: [{ containerName, command, environment }] }),
    }),
  );
  if (wake.isSpot) useSpareCapacity(rule);
  return rule;
}

const spareCapacity = "FARGATE_SPOT";

/** The library's target knows launch types only; the two exclude each other. */
function useSpareCapacity(rule: Rule): void {
  const { defaultChild } = rule.node;
  if (!(defaultChild instanceof CfnRule)) throw new Error(`${rule.node.path} has no resource of its own`);
  const target = "Targets.0.EcsParameters";
  defaultChild.addPropertyDeletionOverride(`${target}.LaunchType`);
  defaultChild.addPropertyOverride(`${target}.CapacityProviderStrategy`, [
    { CapacityProvider: spareCapacity, Weight: 1 },
  ]);
}

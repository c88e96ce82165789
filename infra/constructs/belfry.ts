import { Stack, Validations } from "aws-cdk-lib";
import { type Connections, type IConnectable, Port } from "aws-cdk-lib/aws-ec2";
import { Cluster, ContainerInsights, type ICluster } from "aws-cdk-lib/aws-ecs";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Function } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { Topology } from "../../src/stage/topology.ts";
import { bundledRelease, type Release } from "../bundled-release.ts";
import type { Database } from "./database.ts";
import { Alarms } from "./alarms.ts";
import { usualAlarms } from "./alarm-choices.ts";
import { AlarmTopics, requireSubscribers, subscribe, type Topics } from "./alarm-topics.ts";
import type { BelfryProps } from "./belfry-props.ts";
import { addBudget } from "./budget.ts";
import { addDatabaseEvents } from "./database-events.ts";
import { Archive } from "./archive.ts";
import { createDatabase, priceOf } from "./database-choice.ts";
import type { DatabaseProps } from "./database-defaults.ts";
import { DeadLetterDrain } from "./dead-letter-drain.ts";
import { FargateJobs } from "./fargate-jobs.ts";
import { finish } from "./finish.ts";
import { HttpApi } from "./http-api.ts";
import { Lane } from "./lane.ts";
import { LockTable } from "./lock-table.ts";
import { Migration } from "./migration.ts";
import { Network } from "./network.ts";
import { SchedulerTask } from "./scheduler-task.ts";
import { grantSealing, grantSeals, type SealKeys, sealsEnvironment } from "./seals.ts";
import { refuseTwin, systemOf } from "./system.ts";
import { beside, type Beside, type FunctionShare } from "./vpc-function.ts";

interface AlarmedParts {
  readonly workers: readonly Function[];
  readonly drain: DeadLetterDrain;
  readonly migration: Migration;
  readonly database: Database;
  readonly network: Network;
}

/**
 * One stage of a project, for any stack. Its code is checked and bundled by `belfry bundle` in a process of its own, so a
 * CDK app may be CommonJS or run on any Node that the CDK supports. A stack with termination protection must have
 * subscribers. @throws Error with what `belfry check` says, or what a protected stack lacks.
 * @beta
 */
export class Belfry extends Construct implements IConnectable {
  readonly lanes: readonly Lane[];
  /** Where its alarms go, for a chat service or any other subscriber. */
  readonly topics: Topics;
  /** Of all its processes, which may call by HTTPS and their database: `belfry.connections.allowTo(cache, Port.tcp(6379))` opens more. */
  readonly connections: Connections;
  /** Props of a function of your own that enqueues by `connect()`; then `grantEnqueue` it. */
  readonly client: Beside;
  /** @internal */
  readonly system: string;
  /** @internal */
  readonly scheduler: SchedulerTask;
  /** @internal */
  readonly api: HttpApi;
  /**
   * Null when no job runs on Fargate.
   * @internal
   */
  readonly jobs: FargateJobs | null;

  /** @internal */
  readonly topology: Topology;

  readonly #ofClients: {
    readonly database: Database;
    readonly seals: SealKeys | undefined;
    readonly migration: Migration;
  };

  constructor(scope: Construct, id: string, props: BelfryProps) {
    super(scope, id);
    const release = props.release ?? bundledRelease(this, props);
    const { topology, code } = release;
    this.topology = topology;
    this.system = systemOf(this, props.system);
    refuseTwin(this, (each) => each instanceof Belfry);
    requireSubscribers(this, topology.stage, props);
    const image = props.image ?? release.image;
    const { network, database } = this.#ground(props);
    this.connections = opened(database, topology);
    const { encryptionKey: key } = props;
    const locks = new LockTable(this, "Locks", key);
    this.lanes = topology.lanes.map((lane) => new Lane(this, `Lane-${lane.name}`, { lane, topology, key }));
    const fakes = props.fakes?.(this) ?? null;
    const environment = {
      ...sharedEnvironment(this, locks, props.database),
      ...sealsEnvironment(this, props.seals),
      ...fakes?.environment,
    };
    const share: FunctionShare = { network, database, logRetentionDays: topology.logRetentionDays, environment };
    this.client = beside(share);
    const workers = this.lanes.map((lane) => lane.addWorker(share, code.functions.worker));
    const drain = new DeadLetterDrain(this, "DeadLetters", {
      lanes: this.lanes,
      topology,
      share,
      code: code.functions["dead-letter"],
    });
    this.api = new HttpApi(this, "Http", { share, code: code.functions.api, topology, system: this.system });
    const isSpot = props.spotPasses ?? false;
    const cluster = props.cluster ?? ownCluster(this, network, isSpot);
    this.scheduler = new SchedulerTask(this, "Scheduler", {
      topology,
      network,
      database,
      cluster,
      image,
      isSpot,
      kind: props.scheduler ?? "each-minute",
      environment: { ...environment, BELFRY_POOL_SIZE: String(topology.database.poolPerSchedulerTask) },
      lanes: this.lanes,
    });
    if (topology.archive !== undefined) new Archive(this, "Archive", topology, archiver(this, key));
    this.#allow(locks, { workers, senders: [drain.function, this.api.function, this.scheduler.role] }, topology);
    grantSeals(this.lanes, [this.api.function, this.scheduler.role], props.seals);
    this.jobs = this.#fargateJobs({ ...release, image }, { share, cluster, locks, workers });
    const targets = fakes?.addTask({ share, cluster, stage: topology.stage, api: this.api });
    // Their seeds run before the first job.
    if (targets !== undefined) for (const each of this.scheduler.starters) each.node.addDependency(targets);
    const migration = new Migration(this, "Migration", {
      share,
      code: code.functions.migrate,
      release: code.release,
      administration: database.administration,
      cluster: props.cluster === undefined ? cluster : null,
    });
    this.#ofClients = { database, seals: props.seals, migration };
    this.#order(migration, database, [
      ...this.lanes,
      drain,
      this.api,
      this.scheduler,
      ...(this.jobs === null ? [] : [this.jobs]),
      ...(fakes === null ? [] : [fakes]),
    ]);
    this.topics = props.topics ?? new AlarmTopics(this, "Topics");
    this.#alarm(props, { drain, workers, migration, database, network });
    finish(this, topology, props);
  }

  #ground(props: BelfryProps): { readonly network: Network; readonly database: Database } {
    const { topology, system } = this;
    const { stage, logRetentionDays } = topology;
    const given = props.network ?? { kind: "small", ipv4: "none" };
    const network = new Network(this, "Network", { network: given, system, stage, logRetentionDays });
    const { database } = props;
    return { network, database: createDatabase(this, "Database", { database, network, topology, system }) };
  }

  #alarm(props: BelfryProps, parts: AlarmedParts): void {
    const { topics } = this;
    if (props.monthlyBudgetUsd !== undefined) addBudget(this, topics.warn, props.monthlyBudgetUsd);
    // Who has topics has subscribers too.
    if (props.topics === undefined || props.subscribers !== undefined) subscribe(this, topics, props.subscribers);
    const { workers, migration, drain, database, network } = parts;
    // A team's own topic may not take what RDS sends.
    if (props.topics === undefined && database instanceof Construct) addDatabaseEvents(this, database, topics.warn);
    new Alarms(this, "Alarms", {
      system: this.system,
      topology: this.topology,
      choices: props.alarms ?? usualAlarms,
      topics,
      lanes: this.lanes,
      functions: {
        workers,
        api: this.api.function,
        migration: migration.function,
        others: [drain.function, ...(this.jobs === null ? [] : [this.jobs.events])],
      },
      wakes: { lost: this.scheduler.lostWakes, rules: this.scheduler.wakes },
      lostEvents: this.jobs?.lostEvents ?? null,
      database,
      network,
    });
  }

  /** To grant, and to give variables and secrets to its handlers. @throws Error when the stage has no such lane. */
  lane(name: string): Lane {
    const lane = this.lanes.find((each) => each.name === name);
    if (lane !== undefined) return lane;
    throw new Error(`there is no lane "${name}": use one of ${this.lanes.map((each) => each.name).join(", ")}`);
  }

  /**
   * Lets your own function or task enqueue by `connect()` for every lane, sealed kinds too. It signs in to the database with the rights of
   * the jobs' own processes, so it could read every payload that is not sealed.
   */
  grantEnqueue(grantee: IGrantable): void {
    const { database, seals, migration } = this.#ofClients;
    database.grantConnect(grantee);
    grantSealing(grantee, seals);
    // Its new code needs the schema too.
    if (Construct.isConstruct(grantee)) migration.goesBefore(...runs(grantee));
    for (const lane of this.lanes) lane.grantSend(grantee);
  }

  /** Workers launch, every process that cancels stops, and a task may do what a worker may. */
  #fargateJobs(
    { topology, code, image }: Release,
    parts: { share: FunctionShare; cluster: ICluster; locks: LockTable; workers: readonly Function[] },
  ): FargateJobs | null {
    const { jobTask } = topology;
    if (jobTask === null) return null;
    const { share, cluster, locks, workers } = parts;
    const jobs = new FargateJobs(this, "Jobs", {
      jobTask,
      share,
      cluster,
      image,
      poolSize: topology.database.poolPerWorker,
      code: code.functions["ecs-events"],
    });
    const roles = this.lanes.flatMap((lane, index) => {
      const worker = workers[index];
      return worker !== undefined && jobTask.lanes.includes(lane.name) ? [jobs.grantLaunch(worker, lane)] : [];
    });
    for (const lane of this.lanes) for (const sender of [...roles, jobs.events]) lane.grantSend(sender);
    for (const canceler of [this.api.function, this.scheduler]) jobs.grantStop(canceler);
    for (const role of roles) locks.grantHandlerLocks(role);
    return jobs;
  }

  /** Processes that finish or enqueue jobs may send messages; locks go to the processes that name them. */
  #allow(
    locks: LockTable,
    { workers, senders }: { workers: readonly Function[]; senders: readonly IGrantable[] },
    topology: Topology,
  ): void {
    for (const worker of workers) locks.grantHandlerLocks(worker);
    locks.grantOwnLocks(this.scheduler.role);
    locks.grantLooking(this.api.function);
    // A schedule's own task runs its handler.
    if (topology.scheduleWakes.length > 0) locks.grantHandlerLocks(this.scheduler.role);
    for (const sender of [...workers, ...senders]) for (const lane of this.lanes) lane.grantSend(sender);
  }

  /** Functions and rules of a release come after its schema; queues and tables need not wait. */
  #order(migration: Migration, database: Database, runners: readonly Construct[]): void {
    if (database instanceof Construct) migration.goesAfter(database);
    for (const runner of runners) migration.goesBefore(...runs(runner));
  }
}

const archiver = ({ system, scheduler }: Belfry, key?: IKey) => ({ system, scheduler, ...(key && { key }) });

/** HTTPS is open; a webhook may be at another port of it. */
function opened({ clients: { connections } }: Database, { eventWebhook }: Topology): Connections {
  const port = Number(eventWebhook === undefined ? "" : new URL(eventWebhook.url).port);
  if (port !== 0) connections.allowToAnyIpv4(Port.tcp(port), "The webhook of events");
  return connections;
}

const runningTypes = /^AWS::(Lambda::Function|Events::Rule|ECS::(TaskDefinition|Service))$/;

const runs = (scope: Construct): readonly Construct[] =>
  scope.node.findAll().filter((each) => "cfnResourceType" in each && runningTypes.test(String(each.cfnResourceType)));

function sharedEnvironment(
  belfry: Belfry,
  locks: LockTable,
  database: DatabaseProps | undefined,
): Readonly<Record<string, string>> {
  const { topology, lanes, system } = belfry;
  // A job of one lane may enqueue for any other.
  const urls = Object.fromEntries(lanes.map((lane) => [lane.name, lane.queue.queueUrl]));
  return {
    BELFRY_STAGE: topology.stage,
    BELFRY_SYSTEM: system,
    ...(topology.cell === undefined ? {} : { BELFRY_CELL: String(topology.cell) }),
    BELFRY_QUEUE_URLS: Stack.of(belfry).toJsonString(urls),
    BELFRY_LOCK_TABLE: locks.table.tableName,
    ...priceOf(database),
  };
}

function ownCluster(scope: Construct, network: Network, hasSpot: boolean): ICluster {
  const cluster = new Cluster(scope, "Cluster", {
    vpc: network.vpc,
    containerInsightsV2: ContainerInsights.DISABLED,
    enableFargateCapacityProviders: hasSpot,
  });
  Validations.of(cluster).acknowledge({
    id: "AwsSolutions-ECS4",
    reason: "The task reports its own metrics; container insights would cost more than the task.",
  });
  return cluster as ICluster;
}

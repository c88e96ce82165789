import { RemovalPolicy, Stack } from "aws-cdk-lib";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Code, Function } from "aws-cdk-lib/aws-lambda";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import type { IStringParameter } from "aws-cdk-lib/aws-ssm";
import { Construct } from "constructs";
import { describe } from "../../src/define/problem.ts";
import { missingSettings } from "../../src/stage/lane-settings.ts";
import type { LaneTopology, Topology } from "../../src/stage/topology.ts";
import { grantUse } from "./encryption.ts";
import { LanePrincipal } from "./lane-principal.ts";
import { grantRead, grantSecret, secretsVariable } from "./lane-settings.ts";
import { addQueueSource, deadLetterQueue, encryptedQueue } from "./queue.ts";
import { type FunctionShare, VpcFunction } from "./vpc-function.ts";

export interface LaneQueuesProps {
  readonly lane: LaneTopology;
  readonly topology: Topology;
  /** Of the stage's queues. Left out: SQS's own. */
  readonly key?: IKey | undefined;
}

/**
 * One lane: its queue, its dead-letter queue and, once `addWorker` was called, its worker. What is granted to it, and the
 * variables and secrets it is given, are for all that runs its jobs, functions and tasks.
 * @beta
 */
export class Lane extends Construct implements IGrantable {
  readonly name: string;
  /**
   * Names of keys that its jobs are sealed by.
   * @internal
   */
  readonly seals: readonly string[];
  readonly grantPrincipal = new LanePrincipal();
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly #topology: Topology;
  readonly #key: IKey | undefined;
  readonly #lane: LaneTopology;
  readonly #environment: Record<string, string>;
  readonly #secrets: Record<string, string> = {};
  /** What each process of the stage has. */
  #shared: FunctionShare["environment"] = {};
  #worker: Function | null = null;

  /** @internal */
  constructor(scope: Construct, id: string, { lane, topology, key }: LaneQueuesProps) {
    super(scope, id);
    this.#key = key;
    this.name = lane.name;
    this.seals = lane.needs.seals ?? [];
    this.#lane = lane;
    this.#environment = { ...lane.environment };
    this.node.addValidation({ validate: () => this.#missing() });
    this.#topology = topology;
    // A dead letter keeps the time it was first sent, so this queue keeps messages longer than its source.
    this.deadLetters = deadLetterQueue(this, "DeadLetters", {
      visibilityTimeoutSeconds: topology.deadLetters.visibilityTimeoutSeconds,
      retentionSeconds: lane.deadLetterRetentionSeconds,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.queue = encryptedQueue(this, "Queue", {
      visibilityTimeoutSeconds: lane.visibilityTimeoutSeconds,
      retentionSeconds: lane.retentionSeconds,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: lane.maxReceiveCount },
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  grantSend(grantee: IGrantable): void {
    this.queue.grantSendMessages(grantee);
    grantUse(this.#key, "sqs", grantee);
  }

  /**
   * A second step, because a worker may enqueue for any lane: it needs the addresses of all queues.
   * @internal
   */
  addWorker(share: FunctionShare, code: Code): Function {
    const lane = this.#lane;
    const worker = new VpcFunction(this, "Worker", {
      share,
      code,
      description: `Runs the jobs of lane ${lane.name}`,
      timeoutSeconds: lane.functionTimeoutSeconds,
      memoryMb: lane.memoryMb,
      environment: {
        BELFRY_LANE: lane.name,
        BELFRY_POOL_SIZE: String(this.#topology.database.poolPerWorker),
      },
    }).function;
    this.#worker = worker;
    this.#shared = share.environment;
    this.grantPrincipal.join(worker);
    for (const [name, value] of Object.entries(this.#environment)) worker.addEnvironment(name, value);
    for (const [name, reference] of Object.entries(lane.secrets)) this.addSecret(name, reference);
    addQueueSource(worker, "Messages", {
      queue: this.queue,
      batchSize: lane.batchSize,
      windowSeconds: lane.batchingWindowSeconds,
      concurrency: lane.concurrency,
    });
    return worker;
  }

  /** For handlers, in plain text. */
  addEnvironment(name: string, value: string): this {
    this.#environment[name] = value;
    this.#worker?.addEnvironment(name, value);
    return this;
  }

  /** For handlers, by `ctx.secret(name)`. @param secret or the ARN of one, or the ARN or path of an SSM parameter. */
  addSecret(name: string, secret: string | Pick<ISecret, "secretArn"> | Pick<IStringParameter, "parameterArn">): this {
    const reference = referenceOf(secret);
    const isFirst = Object.keys(this.#secrets).length === 0;
    this.#secrets[name] = reference;
    if (isFirst) this.#worker?.addEnvironment("BELFRY_SECRETS", secretsVariable(this, this.#secrets));
    if (typeof secret === "object" && "secretArn" in secret) grantSecret(reference, this);
    else grantRead(this, reference, this);
    return this;
  }

  /** Also of tasks that run its jobs, which have no environment of the lane in their definition: they get it when they start. */
  taskEnvironment(): Readonly<Record<string, string>> {
    const secrets: Record<string, string> =
      Object.keys(this.#secrets).length === 0 ? {} : { BELFRY_SECRETS: Stack.of(this).toJsonString(this.#secrets) };
    return { BELFRY_LANE: this.name, ...this.#environment, ...secrets };
  }

  #missing(): string[] {
    const lane = { ...this.#lane, environment: this.#environment, secrets: this.#secrets };
    return missingSettings(this.#topology.stage, [lane], this.#shared).map(describe);
  }
}

function referenceOf(secret: Parameters<Lane["addSecret"]>[1]): string {
  if (typeof secret === "string") return secret;
  return "secretArn" in secret ? secret.secretArn : secret.parameterArn;
}

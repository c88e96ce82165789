import type { IGrantable, IPrincipal } from "aws-cdk-lib/aws-iam";
import type { Function } from "aws-cdk-lib/aws-lambda";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import type { IQueue } from "aws-cdk-lib/aws-sqs";

/** What runs the jobs of one lane, to be granted what their handlers need: `bucket.grantRead(belfry.lane("mail"))`. */
export class BelfryLane implements IGrantable {
  readonly worker: Function;
  readonly queue: IQueue;

  constructor(worker: Function, queue: IQueue) {
    this.worker = worker;
    this.queue = queue;
  }

  get grantPrincipal(): IPrincipal {
    return this.worker.grantPrincipal;
  }

  /** A variable of the handlers' environment. */
  addEnvironment(name: string, value: string): this {
    this.worker.addEnvironment(name, value);
    return this;
  }

  /** The handlers may read the secret, and find its ARN in the variable: its value is never in a template. */
  addSecret(name: string, secret: ISecret): this {
    secret.grantRead(this.worker);
    return this.addEnvironment(name, secret.secretArn);
  }
}

import { Duration } from "aws-cdk-lib";
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { Construct } from "constructs";
import type { DeployedStage } from "../../src/stage/deployed-api.ts";
import type { Choice } from "./alarm-choices.ts";
import type { Topics } from "./alarm-topics.ts";

/** Of the metrics that our own processes write (`src/aws/telemetry`). */
export const ownNamespace = "Belfry";
const runbook = "docs/runbook.md";
export const fiveMinutes = Duration.minutes(5);

export interface AlarmAbout {
  readonly metric: IMetric;
  readonly what: string;
  /** Of docs/runbook.md. */
  readonly section: string;
  readonly page?: boolean;
  readonly periods?: number;
  readonly below?: boolean;
  readonly missing?: TreatMissingData;
}

/** Makes the alarms of one deployment, each with its topic and its section of the runbook. */
export class AlarmMaker {
  readonly made: Alarm[] = [];
  readonly #scope: Construct;
  readonly #deployed: DeployedStage;
  readonly #topics: Topics;

  constructor(scope: Construct, { topics, ...deployed }: DeployedStage & { readonly topics: Topics }) {
    this.#scope = scope;
    this.#deployed = deployed;
    this.#topics = topics;
  }

  /** One topic gets its begin; a paging topic also gets its end. */
  add(id: string, choice: Choice, about: AlarmAbout): void {
    if (choice === "none") return;
    const alarm = new Alarm(this.#scope, id, {
      metric: about.metric,
      threshold: choice,
      comparisonOperator:
        about.below === true ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: about.periods ?? 1,
      treatMissingData: about.missing ?? TreatMissingData.NOT_BREACHING,
      alarmDescription: `${about.what}: ${runbook}#${about.section}`,
    });
    alarm.addAlarmAction(new SnsAction(about.page === true ? this.#topics.page : this.#topics.warn));
    if (about.page === true) alarm.addOkAction(new SnsAction(this.#topics.page));
    this.made.push(alarm);
  }

  /** With the dimensions that every process writes: all of them, or CloudWatch finds nothing. */
  own(name: string, statistic: string, options: { readonly period?: Duration; readonly lane?: string } = {}): Metric {
    const { period = fiveMinutes, lane } = options;
    const { system, stage } = this.#deployed;
    const dimensionsMap = { service: system, stage, ...(lane === undefined ? {} : { lane }) };
    return new Metric({ namespace: ownNamespace, metricName: name, dimensionsMap, statistic, period });
  }
}

export const awsMetric = (
  namespace: string,
  metricName: string,
  statistic: string,
  dimensionsMap: Readonly<Record<string, string>>,
): Metric => new Metric({ namespace, metricName, statistic, dimensionsMap: { ...dimensionsMap }, period: fiveMinutes });

export const share = (part: IMetric, whole: IMetric, expression: string): IMetric =>
  new MathExpression({ expression, usingMetrics: { part, whole }, period: fiveMinutes });

import type { Function } from "aws-cdk-lib/aws-lambda";
import type { AlarmChoices } from "./alarm-choices.ts";
import { type AlarmMaker, awsMetric, fiveMinutes } from "./alarm-maker.ts";
import type { AlarmedFunctions } from "./alarm-props.ts";

/** Errors, which are crashes and timeouts here: handlers that fail settle their jobs. */
export function addFunctionAlarms(maker: AlarmMaker, choices: AlarmChoices, functions: AlarmedFunctions): void {
  const { workers, api, migration, others } = functions;
  for (const fn of [...workers, api, ...others, migration]) {
    maker.add(`FunctionErrors-${nameOf(fn)}`, choices.functionErrors, {
      metric: fn.metricErrors({ period: fiveMinutes, statistic: "Sum" }),
      what: "Invocations crashed or timed out",
      section: "function-errors",
    });
  }
  for (const fn of [...workers, api, ...others]) {
    maker.add(`Throttles-${nameOf(fn)}`, choices.throttles, {
      metric: fn.metricThrottles({ period: fiveMinutes, statistic: "Sum" }),
      what: "Invocations were throttled",
      section: "throttles",
    });
  }
  for (const fn of [...workers, api]) {
    const percent = choices.nearTimeoutPercent;
    const timeoutMs = fn.timeout?.toMilliseconds() ?? 0;
    maker.add(`NearTimeout-${nameOf(fn)}`, percent === "none" ? "none" : (timeoutMs * percent) / 100, {
      metric: fn.metricDuration({ period: fiveMinutes, statistic: "Maximum" }),
      what: "An invocation took almost all of its time (ms)",
      section: "near-timeout",
    });
  }
  maker.add("ApiErrors", choices.apiErrors, {
    metric: awsMetric("AWS/Lambda", "Url5xxCount", "Sum", { FunctionName: api.functionName }),
    what: "The API answers 5xx",
    section: "api-errors",
  });
}

const nameOf = (fn: Function): string => fn.node.path.split("/").slice(-3, -1).join("-");

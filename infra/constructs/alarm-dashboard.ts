import { Duration } from "aws-cdk-lib";
import { AlarmStatusWidget, Dashboard, GraphWidget, type IMetric, Row } from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { type AlarmMaker, fiveMinutes } from "./alarm-maker.ts";
import type { AlarmsProps } from "./alarm-props.ts";

/** Alarms on top, then what happens to jobs, then what they run on. Nothing on it that no alarm or cost is about. */
export function addDashboard(scope: Construct, maker: AlarmMaker, { lanes, functions, wakes }: AlarmsProps): void {
  if (maker.made.length === 0) return;
  const sums = (...names: readonly string[]) => names.map((name) => maker.own(name, "Sum"));
  const byLane = (name: string, statistic: string) =>
    lanes.map((lane) => maker.own(name, statistic, { lane: lane.name }));
  const worst = ["failed", "items.failed", "slow", "late", "lock.failed"].map((what) =>
    maker.own(`worst.${what}`, "Maximum"),
  );
  const dashboard = new Dashboard(scope, "Dashboard", { defaultInterval: Duration.hours(6) });
  dashboard.addWidgets(
    new Row(new AlarmStatusWidget({ title: "Alarms", alarms: [...maker.made], width: 24, height: 6 })),
    new Row(
      graph("Jobs that succeeded, by lane", byLane("job.success", "Sum")),
      graph(
        "Jobs and runs that failed, and wait",
        ["jobs.failed", "runs.failed", "jobs.dead"].map((name) => maker.own(name, "Maximum")),
      ),
      graph("The kind that does worst (percent)", worst),
    ),
    new Row(
      graph("How late jobs start, by lane (p99, ms)", byLane("job.lateness", "p99")),
      graph("How long attempts take, by lane (p99, ms)", byLane("scheduler.execution.time", "p99")),
      graph(
        "The oldest message, by lane (s)",
        lanes.map(({ queue }) => queue.metricApproximateAgeOfOldestMessage({ period: fiveMinutes })),
      ),
    ),
    new Row(
      graph("Passes", sums("scheduler.lock.acquired", "scheduler.lock.failed", "scheduler.step.failed")),
      ...(wakes.lost === null
        ? []
        : [
            graph("Wakes that were lost", [
              wakes.lost.metricNumberOfMessagesSent({ period: fiveMinutes, statistic: "Sum" }),
            ]),
          ]),
      graph(
        "Errors of functions",
        [...functions.workers, functions.api, ...functions.others].map((fn) =>
          fn.metricErrors({ period: fiveMinutes }),
        ),
      ),
    ),
  );
}

const graph = (title: string, left: IMetric[]) => new GraphWidget({ title, left, width: 8, height: 6 });

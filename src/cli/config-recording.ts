import type { Aws } from "../aws/aws-call.ts";
import { hoursAMonth, prices } from "../insight/prices.ts";

const interfaceType = "AWS::EC2::NetworkInterface";
const minutesAMonth = hoursAMonth * 60;

/** At least: a task's network interface is made, and deleted. */
export const configItemsATask = 2;

interface Recorder {
  readonly name?: string;
  readonly recordingGroup?: {
    readonly allSupported?: boolean;
    readonly resourceTypes?: readonly string[];
    readonly recordingStrategy?: { readonly useOnly?: string };
    readonly exclusionByResourceTypes?: { readonly resourceTypes?: readonly string[] };
  };
  readonly recordingMode?: {
    readonly recordingFrequency?: string;
    readonly recordingModeOverrides?: readonly {
      readonly resourceTypes?: readonly string[];
      readonly recordingFrequency?: string;
    }[];
  };
}

/**
 * Whether each network interface that comes and goes is an item that is paid for.
 * @param wakeMinutes of each rule that starts a scheduler task.
 */
export async function recordingInterfaces(
  aws: Aws,
  wakeMinutes: readonly number[],
): Promise<string | { readonly detail: string; readonly fix: string }> {
  const target = "StarlingDoveService.DescribeConfigurationRecorders";
  const { ConfigurationRecorders = [] } = await aws.json<{ ConfigurationRecorders?: readonly Recorder[] }>(
    "config",
    target,
    {},
  );
  if (!ConfigurationRecorders.some((each) => recordsInterfaces(each) && isContinuous(each)) || !(await isOn(aws))) {
    return "records no network interface that comes and goes within a day";
  }
  const tasks = wakeMinutes.reduce((sum, minutes) => sum + minutesAMonth / minutes, 0);
  if (tasks === 0) return "records each network interface, and no rule starts a task all the time";
  const usd = (tasks * configItemsATask * prices["AWS Config, item"].usd).toFixed(0);
  return {
    detail: `records each network interface: ${tasks.toFixed(0)} scheduler tasks add at least ${usd} USD a month`,
    fix: `exclude ${interfaceType} from the recorder, or record it daily, or take scheduler: "service": docs/costs.md, Who makes the passes`,
  };
}

async function isOn(aws: Aws): Promise<boolean> {
  const target = "StarlingDoveService.DescribeConfigurationRecorderStatus";
  const answer = await aws.json<{ ConfigurationRecordersStatus?: readonly { readonly recording?: boolean }[] }>(
    "config",
    target,
    {},
  );
  return answer.ConfigurationRecordersStatus?.some(({ recording }) => recording === true) === true;
}

function recordsInterfaces({ recordingGroup: group }: Recorder): boolean {
  const excluded = group?.exclusionByResourceTypes?.resourceTypes ?? [];
  if (group?.recordingStrategy?.useOnly === "EXCLUSION_BY_RESOURCE_TYPES") return !excluded.includes(interfaceType);
  return group?.allSupported === true || group?.resourceTypes?.includes(interfaceType) === true;
}

function isContinuous({ recordingMode: mode }: Recorder): boolean {
  const own = mode?.recordingModeOverrides?.find(
    ({ resourceTypes }) => resourceTypes?.includes(interfaceType) === true,
  );
  return (own?.recordingFrequency ?? mode?.recordingFrequency ?? "CONTINUOUS") === "CONTINUOUS";
}

import type { Command } from "commander";
import type { SimulationReply } from "../../api/shape/simulation.ts";
import { registry } from "../../define/definition.ts";
import { loadApps } from "../../compose/apps.ts";
import { specsOf } from "../../schedule/install-schedules.ts";
import { stageNames } from "../../stage/project.ts";
import { topology } from "../../stage/topology.ts";
import { api } from "../api.ts";
import { exitCodes, Finished, wrongUsage } from "../exit.ts";
import type { Output, World } from "../output.ts";
import { projectOf, stageIn } from "../project.ts";
import { queryIn, type Values, withQuery } from "../query-options.ts";
import { type Columns, commandOf, tableOf } from "../read-command.ts";
import { amountOf } from "../text.ts";
import { spanText } from "../times.ts";

type Lane = SimulationReply["lanes"][number];

interface Options {
  readonly failOver?: string;
  readonly fromCode?: boolean;
  readonly stage?: string;
}

/** Of the running system; with `--from-code` of the project's definitions, of which nothing has been measured. */
export function simulateCommand(world: World, out: Output): Command {
  const about = "what all schedules will start in the next days, and where more is due than a lane runs at once";
  const command = commandOf("simulate", about, "schedules simulate --days 30 --against mail=20 --fail-over 0");
  return withQuery(command, "simulateSchedules")
    .option("--from-code", "the schedules of this project, without a running system")
    .option("--fail-over <jobs>", "exits with 1 when more jobs than this wait for a place of their lane at once")
    .action(async () => {
      const options = command.optsWithGlobals<Options>();
      const failOver = jobsOf(options);
      const query = queryIn("simulateSchedules", command.opts());
      const found = await (options.fromCode === true
        ? fromCode(world, options, query)
        : api(world, command).call("simulateSchedules", query));
      out.result(found, () => textOf(found, out));
      const { kinds, countAsMs } = found.unmeasured;
      if (kinds.length > 0)
        out.note(`not measured, so taken to run ${spanText(countAsMs)} (--unmeasured): ${kinds.join(", ")}`);
      const worst = Math.max(0, ...found.lanes.flatMap(({ pileUps }) => pileUps.map(({ over }) => over)));
      if (failOver === undefined || worst <= failOver) return;
      out.note(`${amountOf(worst, "job")} would wait at once, more than --fail-over ${failOver}`);
      throw new Finished(exitCodes.failure);
    });
}

function jobsOf({ failOver }: Options): number | undefined {
  if (failOver === undefined || /^\d{1,6}$/.test(failOver))
    return failOver === undefined ? undefined : Number(failOver);
  throw wrongUsage("bad-count", `--fail-over is ${JSON.stringify(failOver)}: write a whole number of jobs, like 0`);
}

/** The API's own code, loaded only here: every other command starts without it. */
async function fromCode(world: World, { stage: name }: Options, query: Values): Promise<SimulationReply> {
  const project = await projectOf(world);
  const stage = stageIn(project, name ?? stageNames(project)[0] ?? "dev");
  const apps = await loadApps(project, stage);
  const { isRefused, simulationOf, simulationQuery } = await import("../../api/simulation.ts");
  const read = simulationQuery.safeParse(query);
  const [issue] = read.error?.issues ?? [];
  if (read.data === undefined) throw wrongUsage("bad-option", `--${issue?.path[0]?.toString()} ${issue?.message}`);
  const { lanes } = topology(apps, stage);
  const specs = specsOf(registry(apps), stage.name);
  try {
    return simulationOf({ specs, lanes, runMs: new Map(), now: Date.now() }, read.data);
  } catch (error) {
    throw isRefused(error) ? wrongUsage("bad-option", error.message.replace(/^\?/, "--")) : error;
  }
}

function textOf(found: SimulationReply, out: Output): string {
  if (found.times === 0) return "nothing is scheduled in this span";
  const minutes: Columns<SimulationReply["minutes"][number]> = {
    "BUSIEST MINUTE": ({ at }) => at,
    TIMES: ({ times }) => String(times),
  };
  const lanes: Columns<Lane> = {
    LANE: ({ lane }) => lane,
    TIMES: ({ times }) => String(times),
    WORK: ({ workMs }) => spanText(workMs),
    CAPACITY: ({ capacity }) => (capacity === null ? "unknown: --against" : String(capacity)),
    "PILE-UPS": ({ pileUps, isMore }) => `${pileUps.length}${isMore ? "+" : ""}`,
  };
  const pileUps: Columns<Lane["pileUps"][number] & { readonly lane: string }> = {
    "PILE-UP": ({ from }) => from,
    LANE: ({ lane }) => lane,
    OVER: ({ over }) => String(over),
    DRAINS: ({ drainsAt }) => drainsAt,
    "LONGEST WAIT": ({ longestWaitMs }) => spanText(longestWaitMs),
  };
  const piled = found.lanes.flatMap(({ lane, pileUps: own }) => own.map((each) => ({ ...each, lane })));
  return [
    `${amountOf(found.times, "job")} from ${found.from} to ${found.to}`,
    tableOf(out, minutes, found.minutes.slice(0, shown)),
    tableOf(out, lanes, found.lanes),
    ...(piled.length === 0 ? [] : [tableOf(out, pileUps, piled.slice(0, shown))]),
    ...[changesText(found), notRunText(found), movedText(found)].filter((text) => text !== ""),
  ].join("\n\n");
}

const shown = 10;

const changesText = ({ clockChanges }: SimulationReply): string =>
  clockChanges
    .map(({ timezone, at, from, to }) => `${at}: the clock of ${timezone} goes from ${from} to ${to}`)
    .join("\n");

const notRunText = ({ notRun }: SimulationReply): string =>
  notRun
    .slice(0, shown)
    .map(({ schedule, localTime, outcome, reason, calendar }) =>
      [`${schedule} ${localTime.replace("T", " ")}: ${outcome} ${reason ?? ""}`, calendar].filter(Boolean).join(", "),
    )
    .join("\n");

const movedText = ({ moved }: SimulationReply): string =>
  moved
    .slice(0, shown)
    .map(({ schedule, localTime, nominalAt, calendar }) => {
      return `${schedule} ${localTime.replace("T", " ")}: moved to ${nominalAt}, ${calendar}`;
    })
    .join("\n");

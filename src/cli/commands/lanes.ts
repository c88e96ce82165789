import { Command } from "commander";
import type { LaneListReply, LanePauseReply } from "../../api/shape/overview.ts";
import { api } from "../api.ts";
import { part } from "../client.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";
import { pauseBodyOf, pausedText, type PauseOptions, withPauseOptions } from "../pausing.ts";

export function lanesCommand(world: World, out: Output): Command {
  const lanes = new Command("lanes");
  lanes.addCommand(list(world, out), { isDefault: true });
  lanes.addCommand(pause(world, out));
  lanes.addCommand(resume(world, out));
  lanes.addCommand(limit(world, out));
  return lanes;
}

function limit(world: World, out: Output): Command {
  return new Command("limit")
    .description("how many jobs of a kind run at once, until the next release brings its own number")
    .argument("<kind>", "the id of a definition that has a concurrency")
    .argument("<size>", "jobs at once")
    .addHelpText("after", "\nExample:\n  $ npx belfry lanes limit send-mail 5")
    .action(async (kind: string, size: string, _: object, command: Command) => {
      const answer = await api(world, command).put<{ code: number }>(`/caps/${part(kind)}`, { size: Number(size) });
      out.result(answer, () => `${size} jobs of ${kind} run at once from now on; the code says ${answer.code}`);
    });
}

function list(world: World, out: Output): Command {
  const command = new Command("list")
    .description("every lane")
    .addHelpText("after", "\nExample:\n  $ npx belfry lanes");
  return command.action(async (_: object, command: Command) => {
    const found = await api(world, command).get<LaneListReply>("/lanes");
    const rows = found.lanes.map(({ held, ...lane }) => [
      lane.name,
      pausedText(lane),
      String(lane.waiting),
      lane.oldestWaitingMs === null ? "" : `${Math.round(lane.oldestWaitingMs / 1_000)} s`,
      String(lane.running),
      String(lane.scheduled),
      String(held.slot + held.paused + held.predecessors),
      lane.concurrency === null ? "" : String(lane.concurrency),
    ]);
    const head = ["LANE", "STATUS", "WAITING", "OLDEST", "RUNNING", "SCHEDULED", "HELD", "WORKERS"];
    out.result(found, () => out.table(head, rows));
  });
}

function pause(world: World, out: Output): Command {
  return withPauseOptions(new Command("pause"))
    .description("start no job of it any more; what runs goes on")
    .argument("<lane>")
    .addHelpText("after", "\nExample:\n  $ npx belfry lanes pause mail --until 6:00 --reason 'the provider is away'")
    .action(async (name: string, options: PauseOptions, command: Command) => {
      const answer = await api(world, command).post<LanePauseReply>(`/lanes/${part(name)}/pause`, pauseBodyOf(options));
      out.result(answer, () => `lane ${name} is ${pausedText(answer, options.timezone)}`);
    });
}

function resume(world: World, out: Output): Command {
  return new Command("resume")
    .description("start its jobs again")
    .argument("<lane>")
    .addHelpText("after", "\nExample:\n  $ npx belfry lanes resume mail")
    .action(async (name: string, _: object, command: Command) => {
      const answer = await api(world, command).post<LanePauseReply>(`/lanes/${part(name)}/resume`);
      out.result(answer, () => `lane ${name} is on; ${answer.released} released`);
    });
}

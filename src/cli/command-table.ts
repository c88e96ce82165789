import type { Command } from "commander";
import type { Output, World } from "./output.ts";

/** The top level, in the order of the help. */
export const commandTable = {
  jobs: "write, look at and steer jobs",
  runs: "look at and steer runs: jobs that belong together",
  schedules: "look at schedules, ask what became of a time, and steer them",
  "dead-letters": "FAILED jobs that wait for a person",
  lanes: "what waits and runs in each lane",
  locks: "who holds which lock",
  workers: "who worked in the last hour, and what each runs now",
  archive: "what has left for the archive, until when, and whether it can be written",
  costs: "what jobs cost by kind, schedule or key, estimated by list prices",
  kinds: "what may be enqueued, and what each payload looks like",
  explain: "why a job is not running, and when it will",
  events: "changes of state until the next look; with -f, as they happen",
  cells: "which of several stages has which keys; move a range to another",
  check: "all definitions, what is built from them, and the environment's settings; every problem at once",
  migrate: "bring the database to this release's schema; safe to run again",
  doctor: "look at each part of the local system and say what to do about what is wrong",
  init: "make a folder with an app of one job that runs",
  import: "schedules of crontab or EventBridge, jobs and schedules of pg-boss or graphile-worker",
  bundle: "write a stage's functions and image folder, for a CDK app",
  console: "the API and the console of a deployed stage on this machine, with your own AWS credentials",
  mcp: "tools for an assistant: a server of the Model Context Protocol that reads, and changes nothing unless you say so",
  dev: "start the local system and keep it running; the same as npm start",
  completion: "what a shell needs to complete commands, kinds, schedules and lanes",
} as const satisfies Readonly<Record<string, string>>;

export type CommandName = keyof typeof commandTable;

/** Each is loaded when it is asked for. */
export const loadCommand: Readonly<Record<CommandName, () => Promise<(world: World, out: Output) => Command>>> = {
  jobs: async () => (await import("./commands/jobs.ts")).jobsCommand,
  runs: async () => (await import("./commands/runs.ts")).runsCommand,
  schedules: async () => (await import("./commands/schedules.ts")).schedulesCommand,
  "dead-letters": async () => (await import("./commands/dead-letters.ts")).deadLettersCommand,
  lanes: async () => (await import("./commands/lanes.ts")).lanesCommand,
  locks: async () => (await import("./commands/readings.ts")).locksCommand,
  workers: async () => (await import("./commands/readings.ts")).workersCommand,
  archive: async () => (await import("./commands/readings.ts")).archiveCommand,
  costs: async () => (await import("./commands/readings.ts")).costsCommand,
  kinds: async () => (await import("./commands/readings.ts")).kindsCommand,
  explain: async () => (await import("./commands/readings.ts")).explainCommand,
  events: async () => (await import("./commands/events.ts")).eventsCommand,
  cells: async () => (await import("./commands/cells.ts")).cellsCommand,
  check: async () => (await import("./commands/check.ts")).checkCommand,
  migrate: async () => (await import("./commands/migrate.ts")).migrateCommand,
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand,
  init: async () => (await import("./commands/init.ts")).initCommand,
  import: async () => (await import("./commands/import.ts")).importCommand,
  bundle: async () => (await import("./commands/bundle.ts")).bundleCommand,
  console: async () => (await import("./commands/console.ts")).consoleCommand,
  mcp: async () => (await import("./commands/mcp.ts")).mcpCommand,
  dev: async () => (await import("./commands/dev.ts")).devCommand,
  completion: async () => (await import("./commands/completion.ts")).completionCommand,
};

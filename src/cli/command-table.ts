import type { Command } from "commander";
import type { Output } from "./output.ts";
import type { World } from "./world.ts";

interface CommandRow {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<(world: World, out: Output) => Command>;
}

/** The top level, in the order of the help. Each is loaded when it is asked for. */
export const commandTable: readonly CommandRow[] = [
  {
    name: "jobs",
    description: "write, look at and steer jobs",
    load: async () => (await import("./commands/jobs.ts")).jobsCommand,
  },
  {
    name: "runs",
    description: "look at and steer runs: jobs that belong together",
    load: async () => (await import("./commands/runs.ts")).runsCommand,
  },
  {
    name: "schedules",
    description: "look at schedules, ask what became of a time, and steer them",
    load: async () => (await import("./commands/schedules.ts")).schedulesCommand,
  },
  {
    name: "dead-letters",
    description: "FAILED jobs that wait for a person",
    load: async () => (await import("./commands/dead-letters.ts")).deadLettersCommand,
  },
  {
    name: "lanes",
    description: "what waits and runs in each lane",
    load: async () => (await import("./commands/lanes.ts")).lanesCommand,
  },
  {
    name: "locks",
    description: "who holds which lock",
    load: async () => (await import("./commands/locks.ts")).locksCommand,
  },
  {
    name: "workers",
    description: "who worked in the last hour, and what each runs now",
    load: async () => (await import("./commands/workers.ts")).workersCommand,
  },
  {
    name: "archive",
    description: "what has left for the archive, until when, and whether it can be written",
    load: async () => (await import("./commands/archive.ts")).archiveCommand,
  },
  {
    name: "kinds",
    description: "what may be enqueued, and what each payload looks like",
    load: async () => (await import("./commands/kinds.ts")).kindsCommand,
  },
  {
    name: "explain",
    description: "why a job is not running, and when it will",
    load: async () => (await import("./commands/explain.ts")).explainCommand,
  },
  {
    name: "events",
    description: "every change of state as it happens",
    load: async () => (await import("./commands/events.ts")).eventsCommand,
  },
  {
    name: "cells",
    description: "which of several stages has which keys; move a range to another",
    load: async () => (await import("./commands/cells.ts")).cellsCommand,
  },
  {
    name: "check",
    description: "all definitions, what is built from them, and the environment's settings; every problem at once",
    load: async () => (await import("./commands/check.ts")).checkCommand,
  },
  {
    name: "migrate",
    description: "bring the database to this release's schema; safe to run again",
    load: async () => (await import("./commands/migrate.ts")).migrateCommand,
  },
  {
    name: "doctor",
    description: "look at each part of the local system and say what to do about what is wrong",
    load: async () => (await import("./commands/doctor.ts")).doctorCommand,
  },
  {
    name: "init",
    description: "make a folder with an app of one job that runs",
    load: async () => (await import("./commands/init.ts")).initCommand,
  },
  {
    name: "bundle",
    description: "write a stage's functions and image folder, for a CDK app",
    load: async () => (await import("./commands/bundle.ts")).bundleCommand,
  },
  {
    name: "console",
    description: "the API and the console of a deployed stage on this machine, with your own AWS credentials",
    load: async () => (await import("./commands/console.ts")).consoleCommand,
  },
  {
    name: "dev",
    description: "start the local system and keep it running; the same as npm start",
    load: async () => (await import("./commands/dev.ts")).devCommand,
  },
  {
    name: "completion",
    description: "what a shell needs to complete commands, kinds, schedules and lanes",
    load: async () => (await import("./commands/completion.ts")).completionCommand,
  },
];

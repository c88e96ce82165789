import type { Command } from "commander";
import { apiAddress } from "./address.ts";
import { apiClient } from "./client.ts";
import { output, type World } from "./output.ts";
import { program } from "./program.ts";

const states = ["PENDING", "QUEUED", "RUNNING", "RETRY_WAIT", "SUCCESS", "FAILED", "CANCELED", "SKIPPED"];
const silent = { out: () => {}, err: () => {}, isTerminal: false };

/** What may stand where the last of `words` stands, a line each. A system that does not run offers no ids. */
export async function complete(words: readonly string[], world: World): Promise<readonly string[]> {
  const before = words.slice(0, -1);
  const root = await program({ ...world, streams: silent }, output(silent, false), before);
  const { command, given } = reached(root, before);
  const live = () => idsFor(command, before.at(-1), given, world);
  const subcommands = command.commands.map((each) => each.name());
  const options = (words.at(-1) ?? "").startsWith("-") ? command.options.map(({ long }) => long ?? "") : [];
  const found = [...options, ...(options.length > 0 ? [] : subcommands), ...(options.length > 0 ? [] : await live())];
  return found.filter((each) => each.startsWith(words.at(-1) ?? ""));
}

function reached(root: Command, words: readonly string[]): { readonly command: Command; readonly given: number } {
  let command = root;
  let given = 0;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next !== undefined) command = next;
    else if (!word.startsWith("-")) given += 1;
  }
  return { command, given };
}

async function idsFor(command: Command, previous: string | undefined, given: number, world: World) {
  if (previous === "--state") return states;
  const wanted = previous?.startsWith("--") === true ? previous.slice(2) : argumentOf(command, given);
  try {
    const client = apiClient(apiAddress(undefined, world.env, world.folder));
    if (wanted === "kind") return (await client.call("listKinds")).kinds.map(({ id }) => id);
    if (wanted === "lane") return (await client.call("listLanes")).lanes.map(({ name }) => name);
    if (wanted === "schedule") return (await client.call("listSchedules")).schedules.map(({ id }) => id);
  } catch {
    // Nothing to offer.
  }
  return [];
}

/** What the next argument of a command names. */
function argumentOf(command: Command, given: number): string | undefined {
  const argument = command.registeredArguments[Math.min(given, command.registeredArguments.length - 1)]?.name();
  return argument === "id" && command.parent?.name() === "schedules" ? "schedule" : argument;
}
